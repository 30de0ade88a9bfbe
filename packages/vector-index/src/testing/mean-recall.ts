import type { NearestDocuments, VectorIndex } from "../vector-index.js";
import { type BruteForce, isAllowed } from "./brute-force.js";

const DISTANCE_ERROR_MAX = 2e-6;

/** Distances that differ by less count as equal, unless a test says otherwise. */
const TOLERANCE = 1e-5;

/** Share of the wanted that was found, by distance, so that equal ones count for each other. */
export function recall(actual: NearestDocuments, expected: NearestDocuments, tolerance = TOLERANCE): number {
  const worst = (expected.distances[expected.distances.length - 1] ?? 0) + tolerance;
  return expected.distances.length === 0
    ? 1
    : actual.distances.filter((distance) => distance <= worst).length / expected.distances.length;
}

/**
 * The mean share of the `count` nearest documents of each query that an index finds, for queries one behind the other.
 * Throws when a result is too short or too long, names a document twice or one that is not allowed, or when a distance is
 * not that of its document.
 */
export async function meanRecall(
  index: VectorIndex,
  oracle: BruteForce,
  queries: Float32Array,
  count: number,
  allowed?: Uint32Array,
  tolerance?: number,
): Promise<number> {
  const { dimensions } = index;
  const total = queries.length / dimensions;
  let sum = 0;
  for (let i = 0; i < total; i++) {
    const query = queries.subarray(i * dimensions, (i + 1) * dimensions);
    const found = await index.search(query, count, allowed === undefined ? {} : { allowed });
    const expected = oracle.search(query, count, allowed);
    if (found.documents.length !== expected.documents.length)
      throw new Error(`query ${i} found ${found.documents.length} documents, not ${expected.documents.length}`);
    if (new Set(found.documents).size !== found.documents.length) throw new Error(`query ${i} found a document twice`);
    found.documents.forEach((document, place) => {
      if (allowed !== undefined && !isAllowed(allowed, document))
        throw new Error(`query ${i} found document ${document}, which its filter does not allow`);
      const distance = oracle.distance(query, document);
      const reported = found.distances[place] ?? -1;
      if (!Number.isNaN(distance) && !(Math.abs(distance - reported) < DISTANCE_ERROR_MAX))
        throw new Error(`query ${i} found document ${document} at ${reported}, not ${distance}`);
    });
    sum += recall(found, expected, tolerance);
  }
  return sum / total;
}
