import { VECTOR_INDEX_LIMITS } from "@shoal/model";
import { describe, expect, it } from "vitest";
import { createVectorIndex } from "./index.js";
import { BruteForce, bitmap, isAllowed } from "./testing/brute-force.js";
import { ids } from "./testing/ids.js";
import { seededVectors } from "./testing/seeded-vectors.js";
import type { VectorIndex, VectorSearchSettings } from "./vector-index.js";

const SEARCH: VectorSearchSettings = {
  ef: -1,
  targetRecall: 0.98,
  flatSearchCutoff: 40_000,
  unindexedVectorsMax: 10_000,
  cleanupIntervalSeconds: 0,
};

function create(dimensions: number, search: Partial<VectorSearchSettings> = {}): VectorIndex {
  return createVectorIndex({ dimensions, maxConnections: 32, efConstruction: 64 }, { ...SEARCH, ...search });
}

describe("what is refused", () => {
  it("names the document, the place and the value that is not finite, and changes nothing", async () => {
    await using index = create(3);
    index.put(ids(0, 1), Float32Array.of(1, 0, 0), 5);
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e39]) {
      const vectors = Float32Array.of(0, 1, 0, 1, 1, bad);
      expect(() => index.put(Uint32Array.of(0, 70), vectors, 6)).toThrow(
        expect.objectContaining({
          code: "invalid",
          message: `vector of document 70: value ${Math.fround(bad)} at position 2 is not a finite float32 number`,
        }),
      );
      await expect(index.search(Float32Array.of(0, bad, 0), 1)).rejects.toMatchObject({
        code: "invalid",
        message: expect.stringContaining("query vector: value"),
      });
    }
    expect(index.sequence).toBe(5);
    expect(index.statistics().count).toBe(1);
    expect((await index.search(Float32Array.of(1, 0, 0), 2)).distances).toEqual(Float32Array.of(0));
  });

  it("refuses wrong lengths", async () => {
    await using index = create(3);
    expect(() => index.put(ids(0, 2), new Float32Array(5), 1)).toThrow(
      expect.objectContaining({ code: "invalid", message: expect.stringContaining("are 6 numbers, got 5") }),
    );
    await expect(index.search(new Float32Array(2), 1)).rejects.toMatchObject({
      code: "invalid",
      message: "vector lengths don't match: 3 vs 2",
    });
    expect(index.statistics().count).toBe(0);
  });

  it.each([
    [{ dimensions: 0 }, "dimensions must be a whole number from 1 to 65535, got 0"],
    [{ dimensions: 65_536 }, "dimensions must be"],
    [{ dimensions: 1.5 }, "dimensions must be"],
    [{ maxConnections: 0 }, "maxConnections must be a whole number from 1 to 4096, got 0"],
    [{ efConstruction: 0 }, "efConstruction must be"],
  ])("refuses the settings %j", (change, message) => {
    const settings = { dimensions: 2, maxConnections: 16, efConstruction: 16, ...change };
    expect(() => createVectorIndex(settings, SEARCH)).toThrow(
      expect.objectContaining({ code: "invalid", message: expect.stringContaining(message) }),
    );
  });

  it.each([
    [1, 1, 0],
    [2, 1, 65_536],
    [3, 4, 0],
  ])("works with %i connections, efConstruction %i, ef %i", async (maxConnections, efConstruction, ef) => {
    const dimensions = 8;
    const search = { ...SEARCH, ef, targetRecall: 0.98, flatSearchCutoff: Number.MAX_SAFE_INTEGER };
    await using index = createVectorIndex({ dimensions, maxConnections, efConstruction }, search);
    const count = 6_000;
    const { next } = seededVectors(1);
    const vectors = Float32Array.from({ length: count * dimensions }, () => next() - 0.5);
    index.put(ids(0, count), vectors, 1);
    await index.settled();
    const found = await index.search(vectors.subarray(0, dimensions), 10);
    expect(found.documents).toHaveLength(10);
    const allowed = Uint32Array.of(0b111);
    const filtered = await index.search(vectors.subarray(0, dimensions), 10, { allowed });
    expect([...filtered.documents].sort()).toEqual([0, 1, 2]);
  });

  it("takes every setting that a class may have", async () => {
    const { maxConnections, efConstruction, ef, flatSearchCutoff, cleanupIntervalSeconds } = VECTOR_INDEX_LIMITS;
    for (const end of [0, 1] as const) {
      const fixed = { dimensions: 2, maxConnections: maxConnections[end], efConstruction: efConstruction[end] };
      const search = {
        ...SEARCH,
        ef: ef[end],
        flatSearchCutoff: flatSearchCutoff[end],
        cleanupIntervalSeconds: cleanupIntervalSeconds[end],
      };
      await using index = createVectorIndex(fixed, search);
      index.put(Uint32Array.of(5), Float32Array.of(1, 0), 1);
      expect((await index.search(Float32Array.of(1, 0), 3)).documents).toEqual(Uint32Array.of(5));
    }
  });

  it("refuses search settings and arguments out of range", async () => {
    await using index = create(2);
    for (const change of [
      { ef: -2 },
      { flatSearchCutoff: -1 },
      { targetRecall: 0 },
      { targetRecall: 1.01 },
      { targetRecall: Number.NaN },
      { unindexedVectorsMax: 0.5 },
      { cleanupIntervalSeconds: -1 },
    ]) {
      expect(() => index.configure({ ...SEARCH, ...change })).toThrow(expect.objectContaining({ code: "invalid" }));
    }
    for (const count of [-1, 0.5, 2 ** 31]) {
      await expect(index.search(new Float32Array(2), count)).rejects.toMatchObject({ code: "invalid" });
    }
    await expect(index.search(new Float32Array(2), 1, { ef: Number.NaN })).rejects.toMatchObject({ code: "invalid" });
  });

  it("takes the largest dimension", async () => {
    await using index = create(65_535);
    const vectors = seededVectors(5).vectors(3, 65_535);
    index.put(ids(0, 3), vectors, 1);
    const found = await index.search(vectors.subarray(65_535, 2 * 65_535), 1);
    expect([...found.documents]).toEqual([1]);
    expect(found.distances[0]).toBeLessThan(1e-5);
  });
});

describe("waiting", () => {
  it("settles when few enough vectors are unindexed, and links everything", async () => {
    const random = seededVectors(21);
    await using index = create(16, { unindexedVectorsMax: 500 });
    index.put(ids(0, 8000), random.vectors(8000, 16), 1);
    expect(index.statistics().unindexed).toBeGreaterThan(500);
    await index.settled();
    expect(index.statistics().unindexed).toBeLessThanOrEqual(500);
    await index.linked();
    expect(index.statistics().unindexed).toBe(0);
    await index.settled();
  });

  it("stops waiting when the signal says so", async () => {
    const random = seededVectors(22);
    await using index = create(64, { unindexedVectorsMax: 0 });
    const reason = new Error("too slow");
    index.put(ids(0, 6000), random.vectors(6000, 64), 1);
    const controller = new AbortController();
    const waits = [index.settled(controller.signal), index.linked(controller.signal)];
    controller.abort(reason);
    for (const wait of waits) await expect(wait).rejects.toBe(reason);
    await expect(index.linked(controller.signal)).rejects.toBe(reason);
    // The index is none the worse for it.
    expect((await index.search(new Float32Array(64).fill(1), 3)).documents.length).toBe(3);
    await index.linked();
  });
});

describe("cleaning up", () => {
  it("rebuilds by itself when a third are tombstones, unless that is switched off", async () => {
    const random = seededVectors(23);
    const vectors = random.vectors(6000, 8);
    const build = async (cleanupIntervalSeconds: number): Promise<VectorIndex> => {
      const index = create(8, { cleanupIntervalSeconds });
      index.put(ids(0, 6000), vectors, 1);
      await index.linked();
      index.remove(ids(0, 2500), 2);
      return index;
    };
    await using manual = await build(0);
    await using automatic = await build(0.05);
    await expect.poll(() => automatic.statistics().tombstones, { interval: 50 }).toBe(0);
    expect(automatic.statistics().count).toBe(3500);
    expect(manual.statistics().tombstones).toBe(2500);
    // Removing the rest gives the memory back at once, with or without the timer.
    manual.remove(ids(0, 6000), 3);
    await expect.poll(() => manual.statistics().memoryBytes).toBeLessThan(50_000);
  });

  it("rebuilds an index without a graph, too, whose vectors are replaced again and again", async () => {
    const random = seededVectors(26);
    await using index = create(8, { cleanupIntervalSeconds: 0.05 });
    for (let round = 1; round <= 20; round++) index.put(ids(0, 500), random.vectors(500, 8), round);
    expect(index.statistics()).toMatchObject({ count: 500, tombstones: 0 });
    await expect.poll(() => index.statistics().deadRows, { interval: 50 }).toBe(0);
    expect(index.statistics().count).toBe(500);
  });

  it("rebuilds nothing while there is no room for it", async () => {
    const asked: number[] = [];
    let isRoom = false;
    const hasRoom = (bytes: number): boolean => {
      asked.push(bytes);
      return isRoom;
    };
    await using index = create(8, { cleanupIntervalSeconds: 0.02, hasRoom });
    index.put(ids(0, 6000), seededVectors(27).vectors(6000, 8), 1);
    await index.linked();
    index.remove(ids(0, 3000), 2);
    await expect.poll(() => asked.length, { interval: 20 }).toBeGreaterThan(2);
    const { deadRows, memoryBytes } = index.statistics();
    expect(deadRows).toBe(3000);
    expect(asked.at(-1)).toBe(memoryBytes / 2);
    isRoom = true;
    await expect.poll(() => index.statistics().deadRows, { interval: 20 }).toBe(0);
  });

  it("ignores a vector that is put again unchanged", async () => {
    const random = seededVectors(24);
    await using index = create(8);
    const vectors = random.vectors(5000, 8);
    index.put(ids(0, 5000), vectors, 1);
    await index.linked();
    const before = index.statistics();
    index.put(ids(0, 5000), vectors, 2);
    expect(index.statistics()).toEqual(before);
    expect(index.sequence).toBe(2);
  });
});

describe("disposing", () => {
  it("finishes searches, then refuses everything", async () => {
    const random = seededVectors(25);
    const index = create(32);
    const vectors = random.vectors(9000, 32);
    index.put(ids(0, 9000), vectors, 1);
    const query = vectors.subarray(0, 32);
    const searches = Array.from({ length: 50 }, () => index.search(query, 1));
    const rebuild = index.rebuild();
    const linked = index.linked();
    const refusals = [rebuild, linked].map((promise) => expect(promise).rejects.toMatchObject({ code: "unavailable" }));
    const disposed = index[Symbol.asyncDispose]();
    for (const search of searches) expect([...(await search).documents]).toEqual([0]);
    await Promise.all(refusals);
    await disposed;
    await index[Symbol.asyncDispose]();
    const closed = expect.objectContaining({ code: "unavailable" });
    expect(() => index.put(ids(0, 1), new Float32Array(32), 1)).toThrow(closed);
    expect(() => index.remove(ids(0, 1), 1)).toThrow(closed);
    expect(() => index.statistics()).toThrow(closed);
    expect(() => index.configure(SEARCH)).toThrow(closed);
    for (const refused of [
      index.search(query, 1),
      index.linked(),
      index.settled(),
      index.rebuild(),
      index.snapshot("x"),
    ]) {
      await expect(refused).rejects.toMatchObject({ code: "unavailable" });
    }
  });
});

describe("everything at once", () => {
  it.each([31, 32, 33])("never loses or invents a document (seed %i)", async (seed) => {
    const random = seededVectors(seed);
    const dimensions = 20;
    const rounds = 60;
    await using index = create(dimensions, { unindexedVectorsMax: 2000, cleanupIntervalSeconds: 0 });
    const oracle = new BruteForce(dimensions);
    // A constant part that every search must find, among parts that come, change and go.
    const steady = 400;
    const steadyVectors = random.vectors(steady, dimensions);
    index.put(ids(0, steady), steadyVectors, 0);
    oracle.put(ids(0, steady), steadyVectors);
    let sequence = 0;
    const running: Promise<unknown>[] = [];
    for (let round = 0; round < rounds; round++) {
      const first = steady + random.below(8000);
      const documents = ids(first, 1 + random.below(400));
      if (random.next() < 0.7 || round < 20) {
        const vectors = random.vectors(documents.length, dimensions);
        index.put(documents, vectors, ++sequence);
        oracle.put(documents, vectors);
      } else {
        index.remove(documents, ++sequence);
        oracle.remove(documents);
      }
      if (round % 20 === 10) running.push(index.rebuild());
      for (let i = 0; i < 5; i++) {
        const target = random.below(steady);
        const query = steadyVectors.slice(target * dimensions, (target + 1) * dimensions);
        const allowed = random.next() < 0.5 ? bitmap([target, ...ids(steady, random.below(3000))]) : undefined;
        running.push(
          index.search(query, 5, allowed === undefined ? {} : { allowed }).then((found) => {
            expect(found.documents[0], `round ${round}`).toBe(target);
            expect(found.distances[0]).toBeLessThan(1e-6);
            expect(new Set(found.documents).size).toBe(found.documents.length);
            for (const document of found.documents) {
              expect(document).toBeLessThan(steady + 8400);
              if (allowed !== undefined) expect(isAllowed(allowed, document)).toBe(true);
            }
          }),
        );
      }
      if (random.next() < 0.3) await index.settled();
    }
    await Promise.all(running);
    await index.linked();
    expect(index.sequence).toBe(sequence);
    expect(index.statistics().count).toBe(oracle.size);
    // What is there in the end is what was put last, each found by its own vector... of the oracle's choosing.
    const all = await index.search(random.vectors(1, dimensions), oracle.size);
    expect([...all.documents].sort((a, b) => a - b)).toEqual(oracle.documents().sort((a, b) => a - b));
  });

  it("serves many indexes", async () => {
    const random = seededVectors(34);
    const indexes = Array.from({ length: 200 }, () => create(8));
    const vectors = random.vectors(300, 8);
    for (const index of indexes) index.put(ids(0, 300), vectors, 1);
    const found = await Promise.all(indexes.map((index, i) => index.search(vectors.subarray(i * 8, i * 8 + 8), 1)));
    found.forEach(({ documents }, i) => {
      expect(documents[0]).toBe(i);
    });
    expect(indexes[0]?.statistics().memoryBytes).toBeLessThan(1_000_000);
    await Promise.all(indexes.map((index) => index[Symbol.asyncDispose]()));
  });
});
