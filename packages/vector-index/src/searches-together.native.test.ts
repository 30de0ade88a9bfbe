import { describe, expect, it } from "vitest";
import { BruteForce, bitmap, isAllowed } from "./brute-force.js";
import { createVectorIndex } from "./index.js";
import { seededVectors } from "./testing/seeded-vectors.js";

const DIMENSIONS = 20;
const SEARCHES = 300;
const SEARCH = { ef: -1, flatSearchCutoff: 40_000, graphTailMax: 10_000, cleanupIntervalSeconds: 0 };
const SETTINGS = { dimensions: DIMENSIONS, maxConnections: 64, efConstruction: 128 };

describe("searches at the same time", () => {
  // Without a graph, and with one.
  it.each([1_500, 9_000])(
    "answer as one after the other, with equal filters and others, among %i rows",
    async (count) => {
      const random = seededVectors(count);
      await using index = createVectorIndex(SETTINGS, SEARCH);
      const oracle = new BruteForce(DIMENSIONS);
      const documents = Uint32Array.from({ length: count }, (_, at) => at);
      const vectors = random.vectors(count, DIMENSIONS).fill(0, 5 * DIMENSIONS, 7 * DIMENSIONS);
      index.put(documents, vectors, 1);
      oracle.put(documents, vectors);
      await index.linked();
      const share = (of: number) => bitmap(documents.filter(() => random.next() < of));
      // Two that are equal, as different lists; one that differs from them in a single row.
      const half = share(0.5);
      const other = Uint32Array.from(half);
      other[3] = (other[3] ?? 0) ^ 1;
      const filters = [half, Uint32Array.from(half), other, share(0.02), new Uint32Array(0), undefined];
      const queries = random.vectors(SEARCHES, DIMENSIONS).fill(0, 0, DIMENSIONS);
      const asked = Array.from({ length: SEARCHES }, (_, at) => ({
        query: queries.subarray(at * DIMENSIONS, (at + 1) * DIMENSIONS),
        wanted: random.pick([0, 1, 3, 10, 200, count * 2]),
        allowed: random.pick(filters),
      }));
      const options = (allowed: Uint32Array | undefined) => (allowed === undefined ? {} : { allowed });
      const together = await Promise.all(
        asked.map(({ query, wanted, allowed }) => index.search(query, wanted, options(allowed))),
      );
      for (const [at, { query, wanted, allowed }] of asked.entries()) {
        const found = together[at];
        expect(found, `search ${at}`).toEqual(await index.search(query, wanted, options(allowed)));
        if (allowed === undefined) continue;
        const expected = oracle.search(query, wanted, allowed);
        expect(found?.documents.length).toBe(expected.documents.length);
        expect(found?.documents.every((document) => isAllowed(allowed, document))).toBe(true);
        if (count > 4_096) continue;
        for (const [place, distance] of expected.distances.entries()) {
          const got = found?.distances[place] ?? 9;
          expect(Number.isNaN(distance) ? Number.isNaN(got) : Math.abs(distance - got) < 2e-6).toBe(true);
        }
      }
    },
  );
});
