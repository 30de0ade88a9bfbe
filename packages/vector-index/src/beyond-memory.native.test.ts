import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createVectorIndex, DamagedVector, loadVectorIndex } from "./index.js";
import { bitmap } from "./testing/brute-force.js";
import { ids } from "./testing/ids.js";
import { type SeededVectors, seededVectors } from "./testing/seeded-vectors.js";
import { snapshotPaths } from "./testing/snapshot-parts.js";
import type { VectorIndex, VectorSearchSettings } from "./vector-index.js";

const DIMENSIONS = 128;
const SETTINGS = { dimensions: DIMENSIONS, maxConnections: 16, efConstruction: 64 };
const CACHED: VectorSearchSettings = {
  ef: 1000,
  targetRecall: 0.98,
  flatSearchCutoff: 40_000,
  unindexedVectorsMax: 10_000,
  cleanupIntervalSeconds: 0,
};
const BEYOND: VectorSearchSettings = { ...CACHED, vectorCacheMaxObjects: 0 };

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-beyond-memory-"));
  path = join(folder, "vectors.snapshot");
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** The same changes to an index in memory and to one whose vectors are in a file. */
class Twins {
  #sequence = 0;
  constructor(
    readonly cached: VectorIndex,
    public beyond: VectorIndex,
    readonly random: SeededVectors,
  ) {}

  put(first: number, vectors: Float32Array): void {
    const documents = ids(first, vectors.length / DIMENSIONS);
    this.#sequence++;
    for (const index of [this.cached, this.beyond]) index.put(documents, vectors, this.#sequence);
  }

  remove(first: number, count: number): void {
    this.#sequence++;
    for (const index of [this.cached, this.beyond]) index.remove(ids(first, count), this.#sequence);
  }

  async linked(): Promise<void> {
    await Promise.all([this.cached.linked(), this.beyond.linked()]);
  }

  async restart(): Promise<void> {
    await this.beyond.snapshot(path);
    await this.beyond[Symbol.asyncDispose]();
    this.beyond = await loadVectorIndex(path, SETTINGS, BEYOND);
  }

  /** Scans are exact: the same to the last bit. Walks find the same but for what a graph misses. */
  async expectAlike(what: string): Promise<void> {
    expect(this.beyond.statistics().count, what).toBe(this.cached.statistics().count);
    const hits = [0, 0];
    for (let i = 0; i < 20; i++) {
      const query = this.random.clustered(1, DIMENSIONS, 30);
      if (i === 0) query.fill(0);
      const allowed = bitmap(ids(this.random.below(8000), 1 + this.random.below(1500)));
      const [exact, found] = await Promise.all(
        [this.cached, this.beyond].map((index) => index.search(query, 25, { allowed })),
      );
      expect(found, `${what}, filter ${i}`).toEqual(exact);
      if (i === 0) continue;
      const all = await this.cached.search(query, 20_000);
      const nearest = [...all.documents.subarray(0, 10)];
      for (const [at, index] of [this.cached, this.beyond].entries()) {
        const { documents } = await index.search(query, 10);
        hits[at] = (hits[at] ?? 0) + documents.filter((document) => nearest.includes(document)).length;
      }
    }
    const [cached = 0, beyond = 0] = hits.map((count) => count / (19 * 10));
    expect(beyond, `${what}; in memory: ${cached}`).toBeGreaterThan(cached - 0.03);
    const query = this.random.clustered(1, DIMENSIONS, 30);
    const [exact, found] = await Promise.all([this.cached, this.beyond].map((index) => index.search(query, 20_000)));
    expect(found, what).toEqual(exact);
  }
}

function twins(seed: number): Twins {
  return new Twins(createVectorIndex(SETTINGS, CACHED), createVectorIndex(SETTINGS, BEYOND), seededVectors(seed));
}

describe("vectors beyond memory", () => {
  it.each([101, 102])("H17: answers are those of an index in memory (seed %i)", async (seed) => {
    const both = twins(seed);
    const { random } = both;
    both.put(0, random.clustered(9000, DIMENSIONS, 30));
    await both.linked();
    await both.beyond.snapshot(path);
    const [all, few] = [both.cached, both.beyond].map((index) => index.statistics().memoryBytes);
    expect(few).toBeLessThan(0.8 * (all ?? 0));
    await both.expectAlike("after the first snapshot");
    for (let round = 0; round < 7; round++) {
      const what = `seed ${seed}, round ${round}`;
      for (let i = random.below(4); i >= 0; i--) {
        if (random.next() < 0.7) both.put(random.below(9000), random.clustered(1 + random.below(400), DIMENSIONS, 30));
        else both.remove(random.below(9000), 1 + random.below(200));
      }
      if (random.next() < 0.5) await both.linked();
      if (random.next() < 0.3) await Promise.all([both.cached.rebuild(), both.beyond.rebuild()]);
      const step = random.below(3);
      if (step === 0) await both.beyond.snapshot(path);
      if (step === 1) await both.restart();
      await both.expectAlike(what);
    }
    await both.restart();
    await both.linked();
    await both.expectAlike(`seed ${seed}, at the end`);
    await both.cached[Symbol.asyncDispose]();
    await both.beyond[Symbol.asyncDispose]();
  });

  it("stay there when the index is rebuilt", async () => {
    const both = twins(107);
    both.put(0, both.random.clustered(9000, DIMENSIONS, 30));
    await both.linked();
    await both.beyond.snapshot(path);
    const before = both.beyond.statistics().memoryBytes;
    both.remove(4000, 50);
    for (let i = 0; i < 2; i++) await Promise.all([both.cached.rebuild(), both.beyond.rebuild()]);
    expect(both.beyond.statistics().memoryBytes).toBeLessThan(1.1 * before);
    await both.expectAlike("before the next snapshot");
    both.put(9000, both.random.clustered(600, DIMENSIONS, 30));
    await both.beyond.snapshot(path);
    await both.expectAlike("after it");
    await both.restart();
    await both.expectAlike("after a restart");
    await both.cached[Symbol.asyncDispose]();
    await both.beyond[Symbol.asyncDispose]();
  });

  it("the same direction again costs nothing, near and equal ones are distinguished", async () => {
    const both = twins(103);
    const vectors = both.random.clustered(9000, DIMENSIONS, 30);
    // Copies and near copies, which codes cannot tell.
    for (let row = 0; row < 9000; row += 3) vectors.copyWithin(row * DIMENSIONS, 0, DIMENSIONS);
    for (let row = 0; row < 9000; row += 6) vectors[row * DIMENSIONS] = (vectors[0] ?? 0) * (1 + row * 1e-7);
    both.put(0, vectors);
    await both.linked();
    await both.beyond.snapshot(path);
    const before = both.beyond.statistics();
    both.put(0, vectors);
    expect(both.beyond.statistics()).toEqual(before);
    const query = vectors.slice(0, DIMENSIONS);
    const [exact, found] = await Promise.all([both.cached, both.beyond].map((index) => index.search(query, 9000)));
    expect(found).toEqual(exact);
    await both.cached[Symbol.asyncDispose]();
    await both.beyond[Symbol.asyncDispose]();
  });

  it("searches, changes and rebuilds go on while vectors leave memory", async () => {
    const both = twins(104);
    const { random } = both;
    both.put(0, random.clustered(14_000, DIMENSIONS, 30));
    await both.linked();
    let busy = true;
    const searching = Array.from({ length: 4 }, async () => {
      const mine = seededVectors(105);
      for (let i = 0; busy; i++) {
        const query = mine.clustered(1, DIMENSIONS, 30);
        const { documents } = await both.beyond.search(query, 10, i % 2 === 0 ? {} : { allowed: bitmap(ids(0, 5000)) });
        expect(documents.length).toBe(10);
      }
    });
    for (let round = 0; round < 5; round++) {
      both.put(14_000 + round * 500, random.clustered(500, DIMENSIONS, 30));
      const rebuilding = round % 2 === 1 ? both.beyond.rebuild() : undefined;
      await both.beyond.snapshot(path);
      await rebuilding;
    }
    busy = false;
    await Promise.all(searching);
    await both.linked();
    await both.expectAlike("at the end");
    await both.cached[Symbol.asyncDispose]();
    await both.beyond[Symbol.asyncDispose]();
  });

  it("a vector that is damaged in the file is an error, never a wrong answer", async () => {
    const both = twins(106);
    const vectors = both.random.clustered(9000, DIMENSIONS, 30);
    both.put(0, vectors);
    await both.linked();
    await both.beyond.snapshot(path);
    const rows = (await snapshotPaths(path)).find((name) => name.endsWith(".rows")) ?? "";
    const bytes = await readFile(rows);
    bytes.fill(7, 3000 * (16 + 4 * DIMENSIONS), 3500 * (16 + 4 * DIMENSIONS));
    // In place: the index has the file open.
    await writeFile(rows, bytes, { flag: "r+" });
    const query = both.random.clustered(1, DIMENSIONS, 30);
    const search = (first: number, count: number) =>
      both.beyond.search(query, 5, { allowed: bitmap(ids(first, count)) });
    await expect(search(3000, 500)).rejects.toMatchObject({
      code: "dataLoss",
      message: expect.stringMatching(/document 3\d\d\d is damaged or cannot be read/),
    });
    expect((await search(5000, 500)).documents).toHaveLength(5);
    // Nor does a walk lose it that comes near it.
    const damaged = await both.cached.search(query, 1, { allowed: bitmap(ids(3000, 500)) });
    const [document = 0] = damaged.documents;
    const vector = vectors.slice(document * DIMENSIONS, (document + 1) * DIMENSIONS);
    await expect(both.beyond.search(vector, 1)).rejects.toMatchObject({ code: "dataLoss" });
    // Nor is what cannot be read written anywhere else.
    await expect(both.beyond.snapshot(join(folder, "other"))).rejects.toMatchObject({ code: "dataLoss" });
    await both.cached[Symbol.asyncDispose]();
    await both.beyond[Symbol.asyncDispose]();
    await expect(loadVectorIndex(path, SETTINGS, BEYOND)).rejects.toMatchObject({ code: "dataLoss" });
  });

  it("a rebuild that meets a damaged vector names it, and succeeds when that was put again", async () => {
    const reported: number[] = [];
    const settings = { ...BEYOND, onDamaged: ({ document }: DamagedVector) => void reported.push(document) };
    const both = new Twins(
      createVectorIndex(SETTINGS, CACHED),
      createVectorIndex(SETTINGS, settings),
      seededVectors(108),
    );
    const vectors = both.random.clustered(9000, DIMENSIONS, 30);
    both.put(0, vectors);
    await both.linked();
    await both.beyond.snapshot(path);
    const damaged = [3000, 3001, 5000];
    const rows = (await snapshotPaths(path)).find((name) => name.endsWith(".rows")) ?? "";
    const bytes = await readFile(rows);
    for (const row of damaged) bytes.fill(7, row * (16 + 4 * DIMENSIONS), (row + 1) * (16 + 4 * DIMENSIONS));
    await writeFile(rows, bytes, { flag: "r+" });
    both.remove(0, 40);
    for (const document of damaged) {
      const error = await both.beyond.rebuild().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(DamagedVector);
      expect(error).toMatchObject({ code: "dataLoss", document });
      const vector = vectors.slice(document * DIMENSIONS, (document + 1) * DIMENSIONS);
      expect(both.beyond.holds(error as DamagedVector)).toBe(true);
      expect(both.cached.holds(error as DamagedVector)).toBe(false);
      both.beyond.mend(document, vector);
      expect(both.beyond.holds(error as DamagedVector)).toBe(false);
      // The damaged row counts no more, but has its place in files that are written whole.
      if (document === 5000) await both.beyond.snapshot(join(folder, "other"));
      else await expect(both.beyond.snapshot(join(folder, "other"))).rejects.toBeInstanceOf(DamagedVector);
    }
    expect(reported).toEqual([3001, 5000]);
    await both.expectAlike("mended");
    await Promise.all([both.cached.rebuild(), both.beyond.rebuild()]);
    expect(both.beyond.statistics().deadRows).toBe(0);
    await both.expectAlike("built anew");
    await both.restart();
    await both.expectAlike("after a restart");
    await both.cached[Symbol.asyncDispose]();
    await both.beyond[Symbol.asyncDispose]();
  });
});
