import { exactNeighbours } from "@shoal/data-sets";
import { ShoalError } from "@shoal/model";
import { BENCH_SETS, benchRows, rowId, type SetName } from "../bench-class.js";
import { httpRequest } from "../load-generator/http-request.js";
import { recallOf } from "../load-generator/recall.js";
import type { Workload } from "../load-generator/workload.js";
import { type QueryKind, queryVectors } from "../query-vectors.js";
import { vectorTexts } from "../vector-text.js";

export interface NearVectorParameters {
  readonly set: SetName;
  /** Rows 0 to `loaded` are what the class holds. */
  readonly loaded: number;
  readonly queries: QueryKind;
  readonly warmUpRequests: number;
  readonly requests: number;
  readonly limit: number;
  /** So many of the first measured answers are compared with the exact ones; 0 for none. */
  readonly recallQueries: number;
}

/** GraphQL nearVector: each request has a vector of its own. */
export async function prepare(url: URL, parameters: NearVectorParameters): Promise<Workload> {
  const { set, loaded, warmUpRequests, requests, limit, recallQueries } = parameters;
  const { className, dimensions } = BENCH_SETS[set];
  const vectors = await queryVectors(set, loaded, parameters.queries, warmUpRequests + requests);
  const text = vectorTexts(vectors, dimensions);
  const bodies = Array.from({ length: warmUpRequests + requests }, (_, index) =>
    httpRequest(url, "POST", "/v1/graphql", nearVectorBody(className, text(index), limit)),
  );
  const compared = vectors.slice(warmUpRequests * dimensions, (warmUpRequests + recallQueries) * dimensions);
  const exact = await exactRows(set, loaded, compared, limit);
  const answers: Buffer[] = [];
  return {
    warmUpRequests,
    requests,
    request: (index) => bodies[index] as Buffer,
    fault(index, { status, body }) {
      if (status !== 200 || body.includes('"errors":['))
        return `nearVector: ${status} ${body.toString("utf8", 0, 300)}`;
      if (!body.includes('"certainty":')) return `nearVector: no hits in ${body.toString("utf8", 0, 300)}`;
      const measured = index - warmUpRequests;
      if (measured >= 0 && measured < recallQueries) answers[measured] = body;
      return undefined;
    },
    recall() {
      const recalls = answers.map((body, query) => {
        const ids = exact.subarray(query * limit, (query + 1) * limit);
        return recallOf(
          hitIds(body, className, limit),
          Array.from(ids, (row) => rowId(set, row)),
        );
      });
      return recalls.reduce((sum, recall) => sum + recall, 0) / recalls.length;
    },
  };
}

export function nearVectorBody(className: string, vectorText: string, limit: number): string {
  const fields = "text _additional { id certainty }";
  const query = `{ Get { ${className}(nearVector: {vector: ${vectorText}}, limit: ${limit}) { ${fields} } } }`;
  return JSON.stringify({ query });
}

async function exactRows(set: SetName, loaded: number, queries: Float32Array, k: number): Promise<Uint32Array> {
  if (queries.length === 0) return new Uint32Array(0);
  const { vectors } = await benchRows(set, 0, loaded);
  return exactNeighbours({ rows: vectors, queries, dimensions: BENCH_SETS[set].dimensions, k, rowsName: set });
}

interface NearVectorAnswer {
  readonly data: { readonly Get: Readonly<Record<string, readonly Hit[]>> };
}
interface Hit {
  readonly _additional: { readonly id: string; readonly certainty: number };
}

/** Errors: `internal` when the answer does not hold `limit` different hits, nearest first. */
export function hitIds(body: Buffer, className: string, limit: number): readonly string[] {
  const answer = JSON.parse(body.toString("utf8")) as NearVectorAnswer;
  const hits = answer.data.Get[className] ?? [];
  const ids = hits.map((hit) => hit._additional.id);
  const ordered = hits.every((hit, at) => {
    const before = at === 0 ? 1 : (hits[at - 1]?._additional.certainty ?? Number.NaN);
    return hit._additional.certainty <= before + 1e-6;
  });
  if (new Set(ids).size !== limit || !ordered) {
    throw new ShoalError("internal", `not ${limit} different hits, nearest first: ${JSON.stringify(hits)}`);
  }
  return ids;
}
