import { setTimeout as sleep } from "node:timers/promises";
import { ShoalError } from "@shoal/model";
import { ask, post } from "./ask.js";
import { BENCH_SETS, benchRows, rowId } from "./bench-class.js";
import { vectorTexts } from "./vector-text.js";

const LABELS = 10;
const PER_BATCH = 500;
const POLL_MS = 20;
const ANSWER_TIMEOUT_MS = 120_000;

/** A class with words of the set. */
export interface LabelledWords {
  readonly className: string;
  /** The first of them. */
  readonly first: number;
  readonly count: number;
}

/** The labels, as objects. */
export async function importLabels(url: URL): Promise<void> {
  await post(url, "/v1/schema", { class: "Topic", vectorizer: "none", vectorIndexConfig: { skip: true } });
  const topics = Array.from({ length: LABELS }, (_, at) => ({ class: "Topic", id: topicId(at) }));
  await post(url, "/v1/batch/objects", { objects: topics });
}

/** Words, every other one with one of ten labels. */
export async function importLabelledWords(url: URL, { className, first, count }: LabelledWords): Promise<void> {
  const properties = [
    { name: "text", dataType: ["text"] },
    { name: "topic", dataType: ["Topic"] },
  ];
  await post(url, "/v1/schema", { class: className, vectorizer: "none", properties });
  const { texts, vectors } = await benchRows("glove", first, count);
  const vector = vectorTexts(vectors, BENCH_SETS.glove.dimensions);
  for (let from = 0; from < count; from += PER_BATCH) {
    const objects = texts.slice(from, from + PER_BATCH).map((text, at) => {
      const row = from + at;
      const topic = [{ beacon: `svc://localhost/${topicId(row % LABELS)}` }];
      const given = row % 2 === 0 ? { text, topic } : { text };
      return {
        class: className,
        id: rowId("glove", first + row),
        properties: given,
        vector: JSON.parse(vector(row)) as unknown,
      };
    });
    await post(url, "/v1/batch/objects", { objects });
  }
}

/** Behind all words. */
function topicId(label: number): string {
  return rowId("glove", BENCH_SETS.glove.rows + label);
}

/** Gives the others labels by knn with k 3, and tells how many these were. */
export async function classifyWords(url: URL, className: string): Promise<number> {
  const id = await startClassification(url, className);
  const deadline = performance.now() + ANSWER_TIMEOUT_MS;
  while (performance.now() < deadline) {
    await sleep(POLL_MS);
    const { status, error, meta } = await classification(url, id);
    if (status === "completed") return meta.countSucceeded ?? 0;
    if (status === "failed") throw new ShoalError("internal", `the classification failed: ${error}`);
  }
  throw new ShoalError("deadlineExceeded", `the classification still runs after ${ANSWER_TIMEOUT_MS / 1000} s`);
}

/** Its id. */
export async function startClassification(url: URL, className: string): Promise<string> {
  const body = {
    ...{ type: "knn", class: className, classifyProperties: ["topic"], basedOnProperties: ["text"] },
    settings: { k: 3 },
  };
  const headers = { "content-type": "application/json" };
  const started = await ask(url, "/v1/classifications", { method: "POST", headers, body: JSON.stringify(body) });
  return ((await started.json()) as { readonly id: string }).id;
}

interface Classification {
  readonly status: string;
  readonly error?: string;
  readonly meta: { readonly countSucceeded?: number };
}

export async function classification(url: URL, id: string): Promise<Classification> {
  return (await (await ask(url, `/v1/classifications/${id}`)).json()) as Classification;
}
