import { ShoalError } from "@shoal/model";
import { BENCH_SETS } from "../bench/bench-class.js";

export interface NearWord {
  readonly text: string;
  readonly certainty: number;
}

interface Answer {
  readonly data?: {
    readonly Get: Readonly<Record<string, readonly { text: string; _additional: { certainty: number } }[]>>;
  };
  readonly errors?: readonly { readonly message: string }[] | null;
}

/** The words nearest to a vector, nearest first, asked over GraphQL. `vectorText` is a JSON list. */
export async function nearestWords(url: URL, vectorText: string, limit: number): Promise<readonly NearWord[]> {
  const { className } = BENCH_SETS.glove;
  const search = `${className}(nearVector: {vector: ${vectorText}}, limit: ${limit})`;
  const response = await fetch(new URL("/v1/graphql", url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query: `{ Get { ${search} { text _additional { certainty } } } }` }),
  });
  const body = await response.text();
  if (response.status !== 200) throw new ShoalError("internal", `GraphQL answers ${response.status}: ${body}`);
  const answer = JSON.parse(body) as Answer;
  const hits = answer.data?.Get[className];
  if ((answer.errors ?? []).length > 0 || hits === undefined) throw new ShoalError("internal", `GraphQL: ${body}`);
  return hits.map((hit) => ({ text: hit.text, certainty: hit._additional.certainty }));
}
