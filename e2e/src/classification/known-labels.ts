import { at, type HttpClient } from "../http-client.js";

/** An object of the class `Item`; those with a label teach the others. */
export interface KnownItem {
  readonly id: string;
  readonly vector: readonly number[];
  readonly number: number;
  /** Place of its label; undefined: it is to be classified. */
  readonly label: number | undefined;
}

export interface KnownLabels {
  readonly labels: readonly { readonly id: string; readonly vector: readonly number[] }[];
  readonly items: readonly KnownItem[];
}

const DIMENSIONS = 8;
const BATCH = 500;

/**
 * Items whose vectors have four members of 1 or -1 and are 0 otherwise: many are equally far from another one, and all
 * distances are exact in float32. So large a share of them has a label.
 */
export function knownLabels(
  random: () => number,
  labelCount: number,
  itemCount: number,
  labelledShare = 0.3,
): KnownLabels {
  const uuid = (): string => {
    const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join("");
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  };
  const vector = (): number[] => {
    const made = new Array<number>(DIMENSIONS).fill(0);
    const places = made.map((_, at) => ({ at, order: random() })).sort((a, b) => a.order - b.order);
    for (const { at } of places.slice(0, 4)) made[at] = random() < 0.5 ? 1 : -1;
    return made;
  };
  return {
    labels: Array.from({ length: labelCount }, () => ({ id: uuid(), vector: vector() })),
    items: Array.from({ length: itemCount }, (_, number) => ({
      ...{ id: uuid(), vector: vector(), number },
      label: random() < labelledShare ? Math.floor(random() * labelCount) : undefined,
    })),
  };
}

/** Makes the classes Label and Item, of several shards, and imports everything. */
export async function importLabels(http: HttpClient, { labels, items }: KnownLabels): Promise<void> {
  const shardingConfig = { desiredCount: 2 };
  await http.post("/v1/schema", { class: "Label", vectorizer: "none", shardingConfig });
  const properties = [
    { name: "text", dataType: ["text"] },
    { name: "number", dataType: ["int"] },
    { name: "label", dataType: ["Label"] },
  ];
  await http.post("/v1/schema", { class: "Item", vectorizer: "none", shardingConfig, properties });
  await importAll(
    http,
    labels.map(({ id, vector }) => ({ class: "Label", id, vector })),
  );
  await importAll(
    http,
    items.map(({ id, vector, number, label }) => {
      const reference = label === undefined ? {} : { label: [{ beacon: `svc://localhost/${labels[label]?.id}` }] };
      return { class: "Item", id, vector, properties: { text: `item ${number}`, number, ...reference } };
    }),
  );
}

async function importAll(http: HttpClient, objects: readonly object[]): Promise<void> {
  for (let from = 0; from < objects.length; from += BATCH) {
    const answer = await http.post("/v1/batch/objects", { objects: objects.slice(from, from + BATCH) });
    if (answer.status !== 200 || answer.text.includes('"errors":{')) throw new Error(answer.text.slice(0, 500));
  }
}

/** Starts one and waits for its end; its record. */
export async function classify(http: HttpClient, body: object): Promise<Readonly<Record<string, unknown>>> {
  return ended(http, await started(http, body));
}

/** The id of a classification of items that was started. */
export async function started(http: HttpClient, body: object): Promise<string> {
  const all = { class: "Item", classifyProperties: ["label"], basedOnProperties: ["text"], ...body };
  const answer = await http.post("/v1/classifications", all);
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
  return String(at(answer.json, "id"));
}

/** Waits for the end of a classification; its record. */
export async function ended(http: HttpClient, id: string): Promise<Readonly<Record<string, unknown>>> {
  for (;;) {
    const { json } = await http.get(`/v1/classifications/${id}`);
    if (at(json, "status") !== "running") return json as Readonly<Record<string, unknown>>;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** What an item says of itself now: id of its label, what was said of it, and which classification it was. */
export async function readItem(http: HttpClient, id: string) {
  const { json } = await http.get(`/v1/objects/${id}?include=classification`);
  const references = at(json, "properties", "label");
  const beacon = at(references, 0, "beacon");
  return {
    label: typeof beacon === "string" ? beacon.slice(beacon.lastIndexOf("/") + 1) : undefined,
    count: Array.isArray(references) ? references.length : 0,
    meta: at(references, 0, "classification"),
    classification: at(json, "additional", "classification"),
  };
}

/** Half the cosine distance. */
export function distance(a: readonly number[], b: readonly number[]): number {
  let [dot, ofA, ofB] = [0, 0, 0];
  for (const [at, x] of a.entries()) {
    const y = b[at] ?? 0;
    dot += x * y;
    ofA += x * x;
    ofB += y * y;
  }
  return (1 - dot / Math.sqrt(ofA * ofB)) / 2;
}
