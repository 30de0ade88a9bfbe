import { type ReutersArticle, reutersArticles } from "@shoal/data-sets";
import { ShoalError } from "@shoal/model";
import { ask } from "../ask.js";
import { rowId } from "../bench-class.js";
import { httpRequest } from "../load-generator/http-request.js";
import type { Workload } from "../load-generator/workload.js";
import { batchFault } from "./import-objects.js";

export interface ImportArticlesParameters {
  readonly className: string;
  /** Of this class, which has the same articles; without it the server makes them. */
  readonly vectorsOf: string | null;
  readonly perBatch: number;
  readonly warmUpRequests: number;
}

/** A short article: about as many characters as half of them have. */
const CHARS_MAX = 500;
const PAGE = 500;

/** All short Reuters articles, title and text, through the REST batch. The last batch is left out unless it is full. */
export async function prepare(url: URL, parameters: ImportArticlesParameters): Promise<Workload> {
  const { className, vectorsOf, perBatch, warmUpRequests } = parameters;
  const articles = shortArticles();
  const vectors = vectorsOf === null ? undefined : await vectorTextsOf(url, vectorsOf);
  const object = (place: number): string => {
    const { title, body } = articles[place] as ReutersArticle;
    const id = rowId("glove", place);
    const vector = vectors === undefined ? "" : `,"vector":${vectors.get(id)}`;
    return `{"class":"${className}","id":"${id}","properties":${JSON.stringify({ title, body })}${vector}}`;
  };
  return {
    warmUpRequests,
    requests: Math.floor(articles.length / perBatch) - warmUpRequests,
    request(index) {
      const objects = Array.from({ length: perBatch }, (_, at) => object(index * perBatch + at));
      return httpRequest(url, "POST", "/v1/batch/objects", `{"objects":[${objects.join()}]}`);
    },
    fault: (_, response) => batchFault(response, perBatch, className),
  };
}

function shortArticles(): readonly ReutersArticle[] {
  const isShort = ({ title, body }: ReutersArticle) =>
    title !== "" && body !== "" && title.length + body.length <= CHARS_MAX;
  return reutersArticles().filter(isShort);
}

/** By id, as JSON: what the server shows of them. */
async function vectorTextsOf(url: URL, className: string): Promise<ReadonlyMap<string, string>> {
  const vectors = new Map<string, string>();
  for (let after = ""; ; ) {
    const path = `/v1/objects?class=${className}&include=vector&limit=${PAGE}&after=${after}`;
    const response = await ask(url, path);
    const { objects } = (await response.json()) as { readonly objects?: readonly Vectorized[] };
    if (objects === undefined) throw new ShoalError("internal", `GET ${path}: ${response.status}`);
    for (const { id, vector } of objects) vectors.set(id, JSON.stringify(vector));
    if (objects.length < PAGE) return vectors;
    after = objects.at(-1)?.id ?? "";
  }
}

interface Vectorized {
  readonly id: string;
  readonly vector: readonly number[];
}
