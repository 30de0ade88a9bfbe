import { describe, expect, it } from "vitest";
import { createVectorIndex } from "./index.js";
import { BruteForce, bitmap } from "./testing/brute-force.js";
import { ids } from "./testing/ids.js";
import { meanRecall, recall } from "./testing/mean-recall.js";
import { seededVectors } from "./testing/seeded-vectors.js";
import type { NearestDocuments, VectorIndex, VectorSearchSettings } from "./vector-index.js";

const SEARCH: VectorSearchSettings = {
  ef: -1,
  targetRecall: 0.98,
  flatSearchCutoff: 40_000,
  unindexedVectorsMax: 10_000,
  cleanupIntervalSeconds: 0,
};
const settings = (dimensions: number) => ({ dimensions, maxConnections: 64, efConstruction: 128 });

/** Same distances in the same order; documents may differ only where distances are equal. */
function expectSame(actual: NearestDocuments, expected: NearestDocuments, tolerance: number): void {
  expect(actual.distances.length).toBe(expected.distances.length);
  expected.distances.forEach((distance, i) => {
    const got = actual.distances[i] ?? -1;
    if (Number.isNaN(distance)) expect(got).toBeNaN();
    else expect(Math.abs(got - distance), `distance ${i}: ${got} is not ${distance}`).toBeLessThan(tolerance);
  });
  expect(new Set(actual.documents).size).toBe(actual.documents.length);
}

describe("search without a graph", () => {
  it.each([1, 2, 3, 5, 15, 16, 17, 31, 33, 64, 100, 384, 784, 1536, 4096])(
    "is exact in %i dimensions",
    async (dimensions) => {
      const random = seededVectors(dimensions);
      await using index = createVectorIndex(settings(dimensions), SEARCH);
      const oracle = new BruteForce(dimensions);
      const count = 60;
      const vectors = random.vectors(count, dimensions);
      vectors.fill(0, dimensions * 7, dimensions * 8);
      for (const scale of [1e-20, 1, 1e30]) {
        const scaled = vectors.map((value) => Math.fround(value * scale));
        index.put(ids(0, count), scaled, 1);
        oracle.put(ids(0, count), scaled);
        const queries = random.vectors(5, dimensions);
        for (let i = 0; i < 5; i++) {
          const query = queries.subarray(i * dimensions, (i + 1) * dimensions);
          for (const wanted of [1, 10, count, count * 2]) {
            expectSame(await index.search(query, wanted), oracle.search(query, wanted), 2e-6);
          }
          const allowed = bitmap([1, 3, 7, 12, 31, 32, 59, 999]);
          expectSame(await index.search(query, 4, { allowed }), oracle.search(query, 4, allowed), 2e-6);
        }
      }
      expect(index.statistics()).toMatchObject({ count, unindexed: 0 });
    },
  );

  it("finds nothing where there is nothing", async () => {
    await using index = createVectorIndex(settings(4), SEARCH);
    const query = Float32Array.of(1, 0, 0, 0);
    expect((await index.search(query, 10)).documents).toEqual(new Uint32Array(0));
    index.put(ids(3, 1), query, 1);
    expect((await index.search(query, 0)).documents).toEqual(new Uint32Array(0));
    expect((await index.search(query, 5, { allowed: new Uint32Array(0) })).documents).toEqual(new Uint32Array(0));
    expect(await index.search(query, 5)).toEqual({ documents: Uint32Array.of(3), distances: Float32Array.of(0) });
    index.remove(ids(3, 1), 2);
    expect((await index.search(query, 5)).documents).toEqual(new Uint32Array(0));
  });

  it("gives documents anywhere in 32 bits", async () => {
    await using index = createVectorIndex(settings(2), SEARCH);
    const documents = Uint32Array.of(0, 4_294_967_295, 1 << 22, 4096, 4095);
    index.put(documents, Float32Array.of(1, 0, 1, 1, 0, 1, -1, 1, -1, 0), 1);
    const found = await index.search(Float32Array.of(1, 0), 5);
    expect([...found.documents]).toEqual([0, 4_294_967_295, 1 << 22, 4096, 4095]);
    index.remove(Uint32Array.of(4_294_967_295, 77), 2);
    expect([...(await index.search(Float32Array.of(1, 0), 2)).documents]).toEqual([0, 1 << 22]);
  });

  it("orders equal distances by document, and zero vectors last with NaN", async () => {
    await using index = createVectorIndex(settings(3), SEARCH);
    index.put(Uint32Array.of(9, 4, 6, 5), Float32Array.of(2, 0, 0, 1, 0, 0, 0, 0, 0, -1, 0, 0), 1);
    const found = await index.search(Float32Array.of(5, 0, 0), 10);
    expect([...found.documents]).toEqual([4, 9, 5, 6]);
    expect([...found.distances]).toEqual([0, 0, 2, Number.NaN]);
    const zero = await index.search(new Float32Array(3), 3);
    expect([...zero.documents]).toEqual([4, 5, 6]);
    expect(zero.distances.every(Number.isNaN)).toBe(true);
  });
});

describe("search with a graph", () => {
  it("keeps its recall through replacement, removal and rebuild", async () => {
    const random = seededVectors(11);
    const dimensions = 24;
    await using index = createVectorIndex(settings(dimensions), SEARCH);
    const oracle = new BruteForce(dimensions);
    const count = 7000;
    const put = (documents: Uint32Array, vectors: Float32Array): void => {
      index.put(documents, vectors, 1);
      oracle.put(documents, vectors);
    };
    put(ids(0, count), random.clustered(count, dimensions, 50));
    const queries = random.clustered(60, dimensions, 50);
    // Much of it is not linked yet, and found all the same.
    expect(index.statistics().unindexed).toBeGreaterThan(0);
    expect(await meanRecall(index, oracle, queries, 10)).toBeGreaterThan(0.95);
    await index.linked();
    expect(index.statistics()).toMatchObject({ count, unindexed: 0, tombstones: 0 });
    const fresh = await meanRecall(index, oracle, queries, 10);
    expect(fresh).toBeGreaterThan(0.97);
    expect(await meanRecall(index, oracle, queries.subarray(0, dimensions * 5), 6000)).toBeGreaterThan(0.95);

    const removed = ids(0, count).filter((document) => document % 5 < 2);
    index.remove(removed, 2);
    oracle.remove(removed);
    put(ids(3000, 1000), random.clustered(1000, dimensions, 50));
    await index.linked();
    expect(index.statistics().count).toBe(oracle.size);
    expect(index.statistics().tombstones).toBeGreaterThan(2000);
    expect(await meanRecall(index, oracle, queries, 10)).toBeGreaterThan(0.95);

    const before = index.statistics().memoryBytes;
    await index.rebuild();
    await index.linked();
    expect(index.statistics()).toMatchObject({ count: oracle.size, unindexed: 0, tombstones: 0 });
    expect(index.statistics().memoryBytes).toBeLessThan(before);
    expect(await meanRecall(index, oracle, queries, 10)).toBeGreaterThan(0.95);

    index.remove(Uint32Array.from(oracle.documents()), 3);
    await index.rebuild();
    expect(index.statistics()).toMatchObject({ count: 0, unindexed: 0, tombstones: 0 });
    expect(index.statistics().memoryBytes).toBeLessThan(100_000);
  });

  it("finds as well under every filter, also one that excludes the query's neighbourhood", async () => {
    const random = seededVectors(12);
    const dimensions = 16;
    const count = 12_000;
    const clusters = 40;
    const vectors = random.clustered(count, dimensions, clusters);
    const oracle = new BruteForce(dimensions);
    oracle.put(ids(0, count), vectors);
    const queries = vectors.slice(0, dimensions * 40);
    // Both ways of answering: with a cutoff of 0 no filter may be answered by a scan unless the graph cannot.
    for (const flatSearchCutoff of [40_000, 0]) {
      await using index = createVectorIndex(settings(dimensions), { ...SEARCH, flatSearchCutoff });
      index.put(ids(0, count), vectors, 1);
      await index.linked();
      for (const share of [1, 0.5, 0.25, 0.1, 0.03, 0.01, 0.001, 0]) {
        const allowed = bitmap(ids(0, count).filter(() => random.next() < share));
        const found = await meanRecall(index, oracle, queries, 10, allowed);
        expect(found, `share ${share}, cutoff ${flatSearchCutoff}`).toBeGreaterThan(0.95);
      }
      for (const kept of [1, 5, 20]) {
        const near = bitmap(ids(0, count).filter((document) => document % clusters < kept));
        const far = bitmap(ids(0, count).filter((document) => document % clusters >= clusters - kept));
        expect(await meanRecall(index, oracle, queries, 10, near), `near ${kept}`).toBeGreaterThan(0.95);
        expect(await meanRecall(index, oracle, queries, 10, far), `far ${kept}`).toBeGreaterThan(0.95);
      }
    }
  });

  it("finds copies, and others beside them", async () => {
    const random = seededVectors(13);
    const dimensions = 12;
    await using index = createVectorIndex(settings(dimensions), SEARCH);
    const oracle = new BruteForce(dimensions);
    const vectors = random.vectors(9000, dimensions);
    // A third are copies of five vectors.
    for (let row = 0; row < 9000; row += 3) {
      const source = (row / 3) % 5;
      vectors.copyWithin(row * dimensions, (source * 3 + 1) * dimensions, (source * 3 + 2) * dimensions);
    }
    index.put(ids(0, 9000), vectors, 1);
    oracle.put(ids(0, 9000), vectors);
    await index.linked();
    const copied = vectors.slice(0, dimensions * 16);
    expect(await meanRecall(index, oracle, copied, 10)).toBeGreaterThan(0.95);
    expect(await meanRecall(index, oracle, copied, 400)).toBeGreaterThan(0.95);
    expect(await meanRecall(index, oracle, random.vectors(100, dimensions), 10)).toBeGreaterThan(0.95);
  });

  it("finds every document by its own vector", async () => {
    const random = seededVectors(15);
    const dimensions = 20;
    const count = 10_000;
    // A dense middle: pruning takes the last link to some. This is about what the graph can reach, so the number of candidates is
    // given; the one that an index measures for itself lets a few documents in ten thousand be missed.
    const search = { ...SEARCH, ef: 64 };
    await using index = createVectorIndex({ dimensions, maxConnections: 24, efConstruction: 64 }, search);
    const vectors = random.vectors(count, dimensions);
    for (let i = 0; i < vectors.length; i++)
      vectors[i] = (vectors[i] ?? 0) + (i % dimensions === 0 ? 6 * random.next() : 0);
    index.put(ids(0, count), vectors, 1);
    await index.linked();
    const lost: number[] = [];
    for (let document = 0; document < count; document++) {
      const query = vectors.subarray(document * dimensions, (document + 1) * dimensions);
      if ((await index.search(query, 1)).documents[0] !== document) lost.push(document);
    }
    expect(lost).toEqual([]);
  });

  it("finds of several shards together what one index of all rows finds", async () => {
    const random = seededVectors(15);
    const dimensions = 64;
    const rows = 15_000;
    const shards = 3;
    // As of real data, some directions say more than others.
    const weighted = (vectors: Float32Array) =>
      vectors.map((value, at) => value / Math.sqrt(1 + (at % dimensions) / 2));
    const vectors = weighted(random.vectors(rows, dimensions));
    const queries = weighted(random.vectors(100, dimensions));
    const oracle = new BruteForce(dimensions);
    oracle.put(ids(0, rows), vectors);
    await using whole = createVectorIndex(settings(dimensions), SEARCH);
    whole.put(ids(0, rows), vectors, 1);
    await whole.linked();
    const indexes: VectorIndex[] = [];
    for (let first = 0; first < rows; first += rows / shards) {
      const index = createVectorIndex(settings(dimensions), SEARCH);
      index.put(
        ids(first, rows / shards),
        vectors.subarray(first * dimensions, (first + rows / shards) * dimensions),
        1,
      );
      await index.linked();
      indexes.push(index);
    }
    const merged = async (asked: number): Promise<number> => {
      let sum = 0;
      for (let i = 0; i < 100; i++) {
        const query = queries.subarray(i * dimensions, (i + 1) * dimensions);
        const found = await Promise.all(indexes.map((index) => index.search(query, 10, { shards: asked })));
        const distances = Float32Array.from(found.flatMap((each) => [...each.distances]))
          .sort()
          .subarray(0, 10);
        sum += recall({ documents: new Uint32Array(0), distances }, oracle.search(query, 10));
      }
      return sum / 100;
    };
    const inOne = await meanRecall(whole, oracle, queries, 10);
    expect(await merged(shards)).toBeGreaterThanOrEqual(inOne - 0.005);
    for (const index of indexes) await index[Symbol.asyncDispose]();
  });

  it("takes ef from the query, else from the settings", async () => {
    const random = seededVectors(14);
    const dimensions = 48;
    await using index = createVectorIndex({ dimensions, maxConnections: 8, efConstruction: 16 }, { ...SEARCH, ef: 1 });
    const oracle = new BruteForce(dimensions);
    const vectors = random.vectors(8000, dimensions);
    index.put(ids(0, 8000), vectors, 1);
    oracle.put(ids(0, 8000), vectors);
    await index.linked();
    const queries = random.vectors(60, dimensions);
    const at = async (ef?: number): Promise<number> => {
      let sum = 0;
      for (let i = 0; i < 60; i++) {
        const query = queries.subarray(i * dimensions, (i + 1) * dimensions);
        sum += recall(await index.search(query, 10, ef === undefined ? {} : { ef }), oracle.search(query, 10));
      }
      return sum / 60;
    };
    const low = await at();
    const high = await at(2000);
    expect(high).toBeGreaterThan(low + 0.2);
    index.configure({ ...SEARCH, ef: 2000 });
    expect(await at()).toBe(high);
  });
});
