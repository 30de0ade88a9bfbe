import type { SeededRandom } from "@shoal/seeded-random";
import { at, type HttpClient } from "../http-client.js";
import { randomId, randomVector } from "../random-objects.js";

const LABELS = "UntouchedLabel";
/** Never named by any request but those for classifications. */
export const CLASSIFIED_CLASS = "UntouchedArticle";
export const CLASSIFIED_CLASSES: readonly string[] = [LABELS, CLASSIFIED_CLASS];

const OBJECTS = 40;

/** What a request for a classification can succeed with. */
export interface KnownClassification {
  readonly id: string;
  readonly body: unknown;
}

/** A class of which a quarter has labels, and a classification of the others. */
export async function createClassification(http: HttpClient, chance: SeededRandom): Promise<KnownClassification> {
  const random = chance.next;
  const properties = [
    { name: "text", dataType: ["text"] },
    { name: "label", dataType: [LABELS] },
  ];
  const label = randomId(random);
  const vector = (): readonly number[] => randomVector(random, 4);
  await http.post("/v1/schema", { class: LABELS });
  await http.post("/v1/schema", { class: CLASSIFIED_CLASS, properties });
  const articles = Array.from({ length: OBJECTS }, (_, number) => {
    const text = `article ${number}`;
    const known = number % 4 === 0 ? { text, label: [{ beacon: `weaviate://localhost/${label}` }] } : { text };
    return { class: CLASSIFIED_CLASS, id: randomId(random), properties: known, vector: vector() };
  });
  await http.post("/v1/batch/objects", { objects: [{ class: LABELS, id: label, vector: vector() }, ...articles] });
  const body = {
    class: CLASSIFIED_CLASS,
    type: "knn",
    classifyProperties: ["label"],
    basedOnProperties: ["text"],
    settings: { k: 1 },
  };
  const started = await http.post("/v1/classifications", body);
  if (started.status !== 201) throw new Error(`POST /v1/classifications: ${started.status} ${started.text}`);
  return { id: String(at(started.json, "id")), body };
}
