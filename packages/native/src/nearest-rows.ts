import { addon } from "./addon.js";

interface NearestRowsAddon {
  nearestRows(
    matrix: Float32Array,
    dimensions: number,
    queries: Float32Array,
    count: number,
  ): Promise<{ readonly rows: Uint32Array; readonly distances: Float32Array }>;
}

const native = addon as NearestRowsAddon;

/** What is nearest to one query: rows of the matrix and their Euclidean distances, nearest first, then by row. */
export interface NearestRows {
  readonly rows: Uint32Array;
  readonly distances: Float32Array;
}

/**
 * For each query (of `dimensions` numbers, one behind the other) the `count` rows of `matrix` nearest to it; all when it has
 * fewer. Exact, in float32. On a thread of Node's pool: neither array may change before the result has come.
 */
export async function nearestRows(
  matrix: Float32Array,
  dimensions: number,
  queries: Float32Array,
  count: number,
): Promise<readonly NearestRows[]> {
  const { rows, distances } = await native.nearestRows(matrix, dimensions, queries, count);
  const each = Math.min(count, matrix.length / dimensions);
  return Array.from({ length: queries.length / dimensions }, (_, query) => ({
    rows: rows.subarray(query * each, (query + 1) * each),
    distances: distances.subarray(query * each, (query + 1) * each),
  }));
}
