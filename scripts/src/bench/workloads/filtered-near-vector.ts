import { ShoalError } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { BENCH_SETS, type BenchRows, benchRows, REGIONS, rowId, rowRegions, type SetName } from "../bench-class.js";
import { type BenchFilter, filteredRows, filterText } from "../bench-filter.js";
import { httpRequest } from "../load-generator/http-request.js";
import type { Workload } from "../load-generator/workload.js";
import { moved, type QueryKind, queryVectors } from "../query-vectors.js";
import { vectorTexts } from "../vector-text.js";
import { hitIds } from "./near-vector.js";

export interface FilteredNearParameters {
  readonly set: SetName;
  readonly loaded: number;
  readonly filter: BenchFilter;
  /** `near`: moved rows of the last region, `far`: of the first one. */
  readonly queries: QueryKind | "near" | "far";
  readonly warmUpRequests: number;
  readonly requests: number;
  readonly limit: number;
  /** So many of the first measured answers are held against brute force over the rows that the filter keeps. */
  readonly recallQueries: number;
}

/** Rounding of the texts in which vectors are sent. */
const DISTANCE_ERROR = 1e-6;

/** GraphQL nearVector with a filter: each request has a vector of its own. */
export async function prepare(url: URL, parameters: FilteredNearParameters): Promise<Workload> {
  const { set, loaded, filter, warmUpRequests, requests, limit, recallQueries } = parameters;
  const { className, dimensions } = BENCH_SETS[set];
  const rows = await benchRows(set, 0, loaded);
  const vectors = await queriesOf(parameters, rows);
  const text = vectorTexts(vectors, dimensions);
  const bodies = Array.from({ length: warmUpRequests + requests }, (_, index) => {
    const near = `nearVector: {vector: ${text(index)}}, where: ${filterText(filter, index)}, limit: ${limit}`;
    const query = `{ Get { ${className}(${near}) { text _additional { id certainty } } } }`;
    return httpRequest(url, "POST", "/v1/graphql", JSON.stringify({ query }));
  });
  const kept = filteredRows(filter, rows, dimensions);
  const answers: Buffer[] = [];
  return {
    warmUpRequests,
    requests,
    request: (index) => bodies[index] as Buffer,
    fault(index, { status, body }) {
      if (status !== 200 || body.includes('"errors":[') || !body.includes('"certainty":')) {
        return `nearVector with where: ${status} ${body.toString("utf8", 0, 300)}`;
      }
      const measured = index - warmUpRequests;
      if (measured >= 0 && measured < recallQueries) answers[measured] = body;
      return undefined;
    },
    recall() {
      const exact = new ExactSearch(rows.vectors, dimensions);
      const rowOf = new Map(rows.texts.map((_, row) => [rowId(set, row), row]));
      const recalls = answers.map((body, measured) => {
        const index = warmUpRequests + measured;
        const candidates = kept(index);
        const query = vectors.subarray(index * dimensions, (index + 1) * dimensions);
        const ids = hitIds(body, className, Math.min(limit, candidates.length));
        return exact.recall(
          query,
          candidates,
          ids.map((id) => rowOf.get(id) ?? -1),
        );
      });
      return recalls.reduce((sum, recall) => sum + recall, 0) / recalls.length;
    },
  };
}

async function queriesOf(parameters: FilteredNearParameters, rows: BenchRows): Promise<Float32Array> {
  const { set, loaded, queries, warmUpRequests, requests } = parameters;
  const count = warmUpRequests + requests;
  if (queries !== "near" && queries !== "far") return queryVectors(set, loaded, queries, count);
  const { dimensions } = BENCH_SETS[set];
  const region = queries === "near" ? REGIONS - 1 : 0;
  const around = [...rowRegions(rows, dimensions).entries()].filter(([, one]) => one === region).map(([row]) => row);
  const random = seededRandom(count).next;
  const chosen = Uint32Array.from({ length: count }, () => around[Math.floor(random() * around.length)] as number);
  return moved(rows.vectors, dimensions, chosen, random);
}

/** Brute force in float64 over some of the rows. */
class ExactSearch {
  readonly #lengths: Float64Array;

  constructor(
    readonly vectors: Float32Array,
    readonly dimensions: number,
  ) {
    this.#lengths = Float64Array.from({ length: vectors.length / dimensions }, (_, row) =>
      Math.sqrt(this.#product(vectors.subarray(row * dimensions, (row + 1) * dimensions), row)),
    );
  }

  /**
   * How many of the hits are as near as the nearest so many candidates, which stand in ascending order. Errors: `internal`
   * for a hit that is no candidate: the filter was not obeyed.
   */
  recall(query: Float32Array, candidates: Uint32Array, hits: readonly number[]): number {
    const length = Math.hypot(...query);
    const distance = (row: number) => 1 - this.#product(query, row) / ((this.#lengths[row] as number) * length);
    const sorted = Float64Array.from(candidates, distance).sort();
    const farthest = (sorted[hits.length - 1] as number) + DISTANCE_ERROR;
    const foreign = hits.find((row) => !isAmong(candidates, row));
    if (foreign !== undefined) throw new ShoalError("internal", `row ${foreign} does not satisfy the filter`);
    return hits.filter((row) => distance(row) <= farthest).length / hits.length;
  }

  #product(query: Float32Array, row: number): number {
    const from = row * this.dimensions;
    let sum = 0;
    for (let at = 0; at < this.dimensions; at++) sum += (query[at] as number) * (this.vectors[from + at] as number);
    return sum;
  }
}

function isAmong(sorted: Uint32Array, row: number): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) < row) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === row;
}
