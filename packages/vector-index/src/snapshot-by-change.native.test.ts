import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NativeVectorIndex } from "@shoal/native";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { GraphVectorIndex } from "./graph-vector-index.js";
import { loadVectorIndex } from "./index.js";
import { BruteForce } from "./testing/brute-force.js";
import { FailingDisk, type Failure } from "./testing/failing-disk.js";
import { ids } from "./testing/ids.js";
import { type SeededVectors, seededVectors } from "./testing/seeded-vectors.js";
import { keepSnapshot, readManifest, readPart, snapshotPaths } from "./testing/snapshot-parts.js";
import type { VectorIndex, VectorSearchSettings } from "./vector-index.js";

const SEARCH: VectorSearchSettings = {
  ef: -1,
  targetRecall: 0.98,
  flatSearchCutoff: 40_000,
  unindexedVectorsMax: 10_000,
  cleanupIntervalSeconds: 0,
};
const DIMENSIONS = 40;
const SETTINGS = { dimensions: DIMENSIONS, maxConnections: 16, efConstruction: 48 };

let folder: string;
let path: string;
let disk: FailingDisk;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-snapshot-"));
  path = join(folder, "vectors.snapshot");
  disk = new FailingDisk();
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

function create(dimensions = DIMENSIONS): GraphVectorIndex {
  const settings = { ...SETTINGS, dimensions };
  const native = new NativeVectorIndex(dimensions, settings.maxConnections, settings.efConstruction);
  return new GraphVectorIndex(native, settings, SEARCH, 0, { disk });
}

/** An index and what it must hold after each change. */
class Model {
  #sequence: number;

  constructor(
    readonly index: VectorIndex,
    readonly random: SeededVectors,
    readonly oracle = new BruteForce(index.dimensions),
  ) {
    this.#sequence = index.sequence;
  }

  put(first: number, count: number): void {
    const vectors = this.random.clustered(count, this.index.dimensions, 30);
    this.index.put(ids(first, count), vectors, ++this.#sequence);
    this.oracle.put(ids(first, count), vectors);
  }

  remove(first: number, count: number): void {
    this.index.remove(ids(first, count), ++this.#sequence);
    this.oracle.remove(ids(first, count));
  }

  change(): void {
    const first = this.random.below(8000);
    if (this.random.next() < 0.7) this.put(first, 1 + this.random.below(300));
    else this.remove(first, 1 + this.random.below(200));
  }
}

/** Every document with the vector that it has, by scans. */
async function contents(index: VectorIndex, random: SeededVectors): Promise<readonly (readonly [number, number])[]> {
  const { count } = index.statistics();
  const found = await index.search(random.vectors(1, index.dimensions), Math.max(1, count));
  return [...found.documents].map((document, i) => [document, found.distances[i] ?? 0] as const);
}

/** That `index` holds what `oracle` holds, bit for bit. */
async function expectSame(index: VectorIndex, oracle: BruteForce, seed: number, what = ""): Promise<void> {
  expect(index.statistics().count, what).toBe(oracle.size);
  const query = seededVectors(seed).vectors(1, index.dimensions);
  const expected = oracle.search(query, oracle.size);
  const found = await contents(index, seededVectors(seed));
  expect(
    found.map(([document]) => document).sort((a, b) => a - b),
    what,
  ).toEqual([...expected.documents].sort((a, b) => a - b));
  const distanceOf = new Map([...expected.documents].map((document, i) => [document, expected.distances[i] ?? 0]));
  for (const [document, distance] of found) expect(distance).toBeCloseTo(distanceOf.get(document) ?? 9, 5);
}

describe("a snapshot by change", () => {
  it("F8: writes rows that came, and nodes whose links changed", async () => {
    const dimensions = 256;
    await using index = create(dimensions);
    const model = new Model(index, seededVectors(61));
    model.put(0, 12_000);
    await index.linked();
    await index.snapshot(path);
    const raw = 12_000 * dimensions * 4;
    expect(disk.written).toBeGreaterThan(raw);
    expect(disk.written).toBeLessThan(1.25 * raw);
    disk.written = 0;
    for (let burst = 0; burst < 6; burst++) {
      model.put(burst * 1000, 200);
      await index.linked();
      await index.snapshot(path);
    }
    const changed = 6 * 200 * dimensions * 4;
    expect(disk.written).toBeGreaterThan(changed);
    expect(disk.written).toBeLessThan(3 * changed);
    disk.written = 0;
    model.remove(0, 10);
    await index.snapshot(path);
    // A manifest: a bit a row, and what the index has measured, if it has had the time.
    expect(disk.written).toBeLessThan(13_200 / 8 + 96 + 320 + 1);
    await using loaded = await loadVectorIndex(path, { ...SETTINGS, dimensions }, SEARCH);
    await expectSame(loaded, model.oracle, 1);
    expect(await snapshotPaths(path)).toHaveLength(3);
  });

  it.each([71, 72, 73])("comes back after any changes, restarts and rebuilds (seed %i)", async (seed) => {
    const random = seededVectors(seed);
    let index: VectorIndex = create();
    let model = new Model(index, random);
    model.put(0, 5500);
    for (let round = 0; round < 40; round++) {
      for (let i = random.below(6); i >= 0; i--) model.change();
      if (random.next() < 0.4) await index.linked();
      if (random.next() < 0.1) await index.rebuild();
      expect(await index.snapshot(path)).toBe(index.sequence);
      if (random.next() < 0.6) continue;
      const loaded = await loadVectorIndex(path, SETTINGS, SEARCH);
      await expectSame(loaded, model.oracle, seed + round, `seed ${seed}, round ${round}`);
      expect(loaded.sequence).toBe(index.sequence);
      await index[Symbol.asyncDispose]();
      index = loaded;
      model = new Model(index, random, model.oracle);
    }
    await index.linked();
    await index.snapshot(path);
    await using last = await loadVectorIndex(path, SETTINGS, SEARCH);
    // The graph came back as it was, link by link.
    const graphs = [last, index].map(async (one, i) => {
      await one.snapshot(join(folder, `all${i}`));
      return readPart(join(folder, `all${i}`), SETTINGS, "nodes");
    });
    const [graph, expected] = await Promise.all(graphs);
    expect(expected?.length).toBeGreaterThan(100_000);
    expect(graph?.equals(expected ?? Buffer.alloc(0))).toBe(true);
    await index[Symbol.asyncDispose]();
    expect(await snapshotPaths(path)).toHaveLength(3);
  });

  it("nodes go to a new file when most of the old one is replaced", async () => {
    await using index = create();
    const model = new Model(index, seededVectors(74));
    model.put(0, 5000);
    await index.linked();
    const files = new Set<number>();
    let most = 0;
    for (let round = 0; round < 30; round++) {
      model.put(round * 100, 100);
      await index.linked();
      await index.snapshot(path);
      const { nodesFile, nodesBytes } = await readManifest(path, SETTINGS);
      files.add(nodesFile);
      most = Math.max(most, nodesBytes);
    }
    expect(files.size).toBeGreaterThan(1);
    expect(most).toBeLessThan(3.5 * 8000 * (4 + 16 * 4));
    await using loaded = await loadVectorIndex(path, SETTINGS, SEARCH);
    await expectSame(loaded, model.oracle, 74);
  });

  it("another path gets all of it", async () => {
    await using index = create();
    const model = new Model(index, seededVectors(76));
    model.put(0, 300);
    await index.snapshot(path);
    const other = join(folder, "other");
    await index.snapshot(other);
    await rm(path);
    await using loaded = await loadVectorIndex(other, SETTINGS, SEARCH);
    await expectSame(loaded, model.oracle, 76);
  });

  it("starts again when a file was taken away or cut behind its back", async () => {
    await using index = create();
    const model = new Model(index, seededVectors(77));
    model.put(0, 5000);
    await index.linked();
    await index.snapshot(path);
    for (const harm of [(one: string) => rm(one), (one: string) => writeFile(one, "")]) {
      for (const part of [1, 2]) {
        await harm((await snapshotPaths(path))[part] ?? "");
        model.put(6000, 5);
        await index.snapshot(path);
        await using loaded = await loadVectorIndex(path, SETTINGS, SEARCH);
        await expectSame(loaded, model.oracle, 77);
      }
    }
  });
});

describe("a snapshot that does not come to its end", () => {
  /** A snapshot, then changes of every kind and a second one that fails at the operation `failAt`. */
  async function failed(failAt: number, failure: Failure, chance?: () => boolean) {
    const index = create();
    const model = new Model(index, seededVectors(81));
    model.put(0, 5000);
    await index.linked();
    await index.snapshot(path);
    const before = { oracle: model.oracle.copy(), sequence: index.sequence };
    model.put(4000, 1500);
    model.remove(100, 50);
    await index.linked();
    if (chance !== undefined) await index.rebuild();
    const first = disk.operations;
    disk.failAt = first + failAt;
    disk.failure = failure;
    const error = await index.snapshot(path).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    const operations = disk.operations - first;
    return { index, model, before, error, operations };
  }

  it.each(["before", "half"] as const)("kill -9 at any step (%s): the last one or this one counts", async (failure) => {
    let reachedNew = 0;
    let failAt = 0;
    for (let more = true; more; failAt++) {
      const { index, model, before, operations } = await failed(failAt, failure);
      more = operations > failAt;
      await using loaded = await loadVectorIndex(path, SETTINGS, SEARCH);
      const isNew = loaded.sequence === index.sequence;
      if (isNew) reachedNew++;
      else expect(loaded.sequence, `step ${failAt}`).toBe(before.sequence);
      await expectSame(loaded, isNew ? model.oracle : before.oracle, 82, `step ${failAt}`);
      // The next process goes on with what is there.
      loaded.put(ids(9000, 100), seededVectors(83).clustered(100, DIMENSIONS, 30), 99);
      await loaded.linked();
      await loaded.snapshot(path);
      await using again = await loadVectorIndex(path, SETTINGS, SEARCH);
      expect(again.statistics().count).toBe(loaded.statistics().count);
      expect(await snapshotPaths(path)).toHaveLength(3);
      await index[Symbol.asyncDispose]();
      for (const name of await readdir(folder)) await rm(join(folder, name));
      disk = new FailingDisk();
    }
    expect(failAt).toBeGreaterThan(10);
    expect(reachedNew).toBeGreaterThan(2);
  });

  it("the power fails at any step: what was not synced does not count", async () => {
    const random = seededVectors(84);
    for (let round = 0; round < 24; round++) {
      const { index, model, before } = await failed(random.below(20), "half", () => true);
      await disk.losePower(() => random.next() < 0.7);
      await using loaded = await loadVectorIndex(path, SETTINGS, SEARCH);
      const isNew = loaded.sequence === index.sequence;
      if (!isNew) expect(loaded.sequence).toBe(before.sequence);
      await expectSame(loaded, isNew ? model.oracle : before.oracle, 85, `round ${round}`);
      await index[Symbol.asyncDispose]();
      for (const name of await readdir(folder)) await rm(join(folder, name));
      disk = new FailingDisk();
    }
  });

  it("a full disk: the index goes on, and the next one holds everything", async () => {
    const sizes = async () => {
      let bytes = 0;
      for (const one of await snapshotPaths(path)) bytes += (await stat(one).catch(() => ({ size: 0 }))).size;
      return bytes;
    };
    let failAt = 0;
    for (let more = true; more; failAt++) {
      disk.stays = false;
      const { index, model, error, operations } = await failed(failAt, "half", () => true);
      more = operations > failAt;
      if (error !== undefined) {
        expect(error).toMatchObject({ code: "unavailable", message: expect.stringContaining("ENOSPC") });
        // Attempts leave nothing that grows.
        disk.stays = true;
        const full = await sizes();
        for (let i = 0; i < 3; i++) {
          disk.failAt = disk.operations + 8;
          disk.stays = false;
          await index.snapshot(path).catch(() => {});
        }
        expect(await sizes()).toBeLessThan(2.2 * full + 1e6);
      }
      disk.failAt = Number.POSITIVE_INFINITY;
      model.put(7000, 20);
      await index.snapshot(path);
      await using loaded = await loadVectorIndex(path, SETTINGS, SEARCH);
      await expectSame(loaded, model.oracle, 86, `step ${failAt}`);
      expect(await snapshotPaths(path)).toHaveLength(3);
      await index[Symbol.asyncDispose]();
      for (const name of await readdir(folder)) await rm(join(folder, name));
      disk = new FailingDisk();
    }
  });

  it("closing while it is written leaves the last one", async () => {
    for (const delayMs of [0, 1, 3, 10]) {
      const index = create();
      const model = new Model(index, seededVectors(87));
      model.put(0, 3000);
      await index.snapshot(path);
      const before = model.oracle.copy();
      const { sequence } = index;
      model.put(3000, 9000);
      const writing = index.snapshot(path).catch((error: unknown) => error);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      await index[Symbol.asyncDispose]();
      const result = await writing;
      await using loaded = await loadVectorIndex(path, SETTINGS, SEARCH);
      if (typeof result === "number") await expectSame(loaded, model.oracle, 88);
      else {
        expect(result).toMatchObject({ code: "unavailable" });
        expect(loaded.sequence).toBe(sequence);
        await expectSame(loaded, before, 88);
      }
    }
  });
});

describe("files of different snapshots", () => {
  it("an older manifest, rows or nodes beside newer files are refused, or what they were", async () => {
    await using index = create();
    const model = new Model(index, seededVectors(91));
    model.put(0, 5000);
    await index.linked();
    await index.snapshot(path);
    const first = { files: await keepSnapshot(path), oracle: model.oracle.copy() };
    model.put(4500, 600);
    await index.linked();
    await index.snapshot(path);
    const second = await keepSnapshot(path);
    const other = join(folder, "other");
    await using stranger = create();
    new Model(stranger, seededVectors(92)).put(0, 5600);
    await stranger.linked();
    await stranger.snapshot(other);
    const foreign = [...(await keepSnapshot(other)).values()];
    const names = [...second.keys()];
    let refused = 0;
    for (const [at, name] of names.entries()) {
      for (const content of [first.files.get(name), foreign[at]]) {
        for (const [file, bytes] of second) await writeFile(file, bytes);
        await writeFile(name, content ?? "");
        try {
          await using loaded = await loadVectorIndex(path, SETTINGS, SEARCH);
          // Files only grow: an older manifest finds what it names.
          expect([at, loaded.sequence]).toEqual([0, 1]);
          await expectSame(loaded, first.oracle, 93);
        } catch (error) {
          expect(error).toMatchObject({ code: "dataLoss" });
          refused++;
        }
      }
    }
    expect(refused).toBe(5);
  });
});
