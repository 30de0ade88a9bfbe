import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createVectorIndex } from "./index.js";
import { BruteForce, bitmap, isAllowed } from "./testing/brute-force.js";
import { recall } from "./testing/mean-recall.js";
import { seededVectors } from "./testing/seeded-vectors.js";
import type { NearestDocuments } from "./vector-index.js";

const DIMENSIONS = 20;
const SEARCHES = 300;
const SEARCH = {
  ef: -1,
  targetRecall: 0.98,
  flatSearchCutoff: 40_000,
  unindexedVectorsMax: 10_000,
  cleanupIntervalSeconds: 0,
};
const SETTINGS = { dimensions: DIMENSIONS, maxConnections: 64, efConstruction: 128 };

describe("searches at the same time", () => {
  // No measurement becomes due: between two searches that are compared, it would change how many candidates they keep.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

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

  it("answer as one after the other where a fifth of the rows are tombstones, with any ef", async () => {
    const rows = 6_000;
    const random = seededVectors(21);
    await using index = createVectorIndex({ dimensions: DIMENSIONS, maxConnections: 16, efConstruction: 64 }, SEARCH);
    const documents = Uint32Array.from({ length: rows }, (_, at) => at);
    index.put(documents, random.vectors(rows, DIMENSIONS), 1);
    await index.linked();
    index.remove(documents.subarray(0, rows / 5), 2);
    const asked = Array.from({ length: SEARCHES }, () => ({
      query: random.vectors(1, DIMENSIONS),
      wanted: random.pick([1, 10, 60]),
      options: random.pick([{}, {}, { ef: 1 }, { ef: 40 }, { ef: 500 }, { ef: 700 }]),
    }));
    const alone: NearestDocuments[] = [];
    for (const { query, wanted, options } of asked) alone.push(await index.search(query, wanted, options));
    for (const together of [2, 3, 5, 16, SEARCHES]) {
      for (let from = 0; from < SEARCHES; from += together) {
        const some = asked.slice(from, from + together);
        const found = await Promise.all(some.map(({ query, wanted, options }) => index.search(query, wanted, options)));
        for (const [at, one] of found.entries()) expect(one, `search ${from + at}`).toEqual(alone[from + at]);
      }
    }
  });
});

it("a walk with two heaps, for many candidates, finds as much as one over a sorted list", async () => {
  const rows = 30_000;
  // So few that each walk finds all, whatever graph the threads have made.
  const dimensions = 8;
  const random = seededVectors(23);
  await using index = createVectorIndex({ dimensions, maxConnections: 8, efConstruction: 32 }, SEARCH);
  const documents = Uint32Array.from({ length: rows }, (_, at) => at);
  const vectors = random.vectors(rows, dimensions);
  index.put(documents, vectors, 1);
  const oracle = new BruteForce(dimensions);
  oracle.put(documents, vectors);
  await index.linked();
  for (const ef of [1023, 1024, 1025, 1100]) {
    let sum = 0;
    for (let i = 0; i < 30; i++) {
      const query = random.vectors(1, dimensions);
      sum += recall(await index.search(query, 10, { ef }), oracle.search(query, 10));
    }
    expect(sum / 30, `ef ${ef}`).toBeGreaterThan(0.99);
  }
});
