import { at, type HttpClient } from "../http-client.js";
import { importObjects } from "../import-objects.js";

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
const PAGE = 500;

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
  await importObjects(
    http,
    labels.map(({ id, vector }) => ({ class: "Label", id, vector })),
  );
  await importObjects(
    http,
    items.map(({ id, vector, number, label }) => {
      const reference = label === undefined ? {} : { label: [{ beacon: `svc://localhost/${labels[label]?.id}` }] };
      return { class: "Item", id, vector, properties: { text: `item ${number}`, number, ...reference } };
    }),
  );
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
  return saidOf((await http.get(`/v1/objects/${id}?include=classification`)).json);
}

/** The same of all objects of a class that has a property `label`, by id. */
export async function readItems(http: HttpClient, className: string) {
  const said = new Map<string, ReturnType<typeof saidOf>>();
  for (let after = ""; ; ) {
    const path = `/v1/objects?class=${className}&after=${after}&limit=${PAGE}&include=classification`;
    const { json } = await http.get(path);
    const objects = at(json, "objects") as readonly { readonly id: string }[];
    for (const object of objects) said.set(object.id, saidOf(object));
    if (objects.length < PAGE) return said;
    after = objects.at(-1)?.id ?? "";
  }
}

function saidOf(object: unknown) {
  const references = at(object, "properties", "label");
  const beacon = at(references, 0, "beacon");
  return {
    label: typeof beacon === "string" ? beacon.slice(beacon.lastIndexOf("/") + 1) : undefined,
    count: Array.isArray(references) ? references.length : 0,
    meta: at(references, 0, "classification"),
    classification: at(object, "additional", "classification"),
  };
}

/** How many objects of a class have a label. */
export async function labelledCount(http: HttpClient, className = "Item"): Promise<unknown> {
  const where = 'where: {path: ["label"], operator: Equal, valueInt: 1}';
  const { json } = await http.graphql(`{ Aggregate { ${className}(${where}) { meta { count } } } }`);
  return at(json, "data", "Aggregate", className, 0, "meta", "count");
}

/** The id of the label that zeroshot gives an item, by brute force; of equally near ones the smallest. */
export function nearestLabel({ vector }: KnownItem, labels: KnownLabels["labels"]): string | undefined {
  const [nearest] = labels
    .map((label) => ({ id: label.id, distance: distance(vector, label.vector) }))
    .sort((a, b) => a.distance - b.distance || (a.id < b.id ? -1 : 1));
  return nearest?.id;
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
