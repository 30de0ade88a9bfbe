import { mkdtemp, readdir, readlink, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MeasuredRecall } from "@shoal/model";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createVectorIndex, loadVectorIndex } from "./index.js";
import { readSnapshot } from "./read-snapshot.js";
import { BruteForce, bitmap } from "./testing/brute-force.js";
import { ids } from "./testing/ids.js";
import { seededVectors } from "./testing/seeded-vectors.js";
import type { VectorIndex, VectorSearchSettings } from "./vector-index.js";

const DIMENSIONS = 128;
const ROWS = 8_000;
const CLUSTERS = 40;
const SEED = Number(process.env.SHOAL_TEST_SEED ?? 1);
const SETTINGS = { dimensions: DIMENSIONS, maxConnections: 16, efConstruction: 64 };
const MEASURING: VectorSearchSettings = {
  ef: -1,
  targetRecall: 0.95,
  flatSearchCutoff: 40_000,
  unindexedVectorsMax: 10_000,
  cleanupIntervalSeconds: 0,
  vectorCacheMaxObjects: 0,
};

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-beyond-recall-"));
  path = join(folder, "vectors.snapshot");
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** With `settings`, `measured` is the recall that an index at rest measures with so many rows linked. */
function measuring(settings: VectorSearchSettings, linked: number) {
  let resolve = (_: number): void => {};
  const measured = new Promise<number>((first) => {
    resolve = first;
  });
  const onMeasured = (measurement: MeasuredRecall): void => {
    if (measurement.linked >= linked) resolve(measurement.recall);
  };
  return { settings: { ...settings, onMeasured }, measured };
}

async function recallOf(index: VectorIndex, oracle: BruteForce, queries: Float32Array): Promise<number> {
  const count = queries.length / DIMENSIONS;
  let found = 0;
  for (let at = 0; at < count; at++) {
    const query = queries.subarray(at * DIMENSIONS, (at + 1) * DIMENSIONS);
    const nearest = new Set(oracle.search(query, 10).documents);
    for (const document of (await index.search(query, 10)).documents) if (nearest.has(document)) found++;
  }
  return found / (10 * count);
}

/** Exact results: of rows that are equally far but for roundings, any order will do. */
async function expectExact(index: VectorIndex, oracle: BruteForce, query: Float32Array, allowed?: Uint32Array) {
  const count = 30;
  const { documents, distances } = await index.search(query, count, { allowed });
  const wanted = oracle.search(query, count, allowed);
  expect(documents).toHaveLength(wanted.documents.length);
  expect(new Set(documents).size).toBe(documents.length);
  // A zero vector has no distance, and comes last.
  const orLast = (distance = Number.NaN) => (Number.isNaN(distance) ? 4 : distance);
  distances.forEach((distance, place) => {
    expect(orLast(distance)).toBeCloseTo(orLast(wanted.distances[place]), 5);
    expect(orLast(distance)).toBeCloseTo(orLast(oracle.distance(query, documents[place] ?? 0)), 5);
  });
}

describe("recall of vectors beyond memory", () => {
  it("H17, F17: a probe sees in the file what it sees in memory", async () => {
    const random = seededVectors(201);
    const index = createVectorIndex(SETTINGS, { ...MEASURING, ef: 64 });
    const rows = random.clustered(ROWS, DIMENSIONS, CLUSTERS);
    // A zero vector, copies of one, and near copies.
    rows.fill(0, 5 * DIMENSIONS, 6 * DIMENSIONS);
    for (let row = 100; row < 200; row++) rows.copyWithin(row * DIMENSIONS, 0, DIMENSIONS);
    for (let row = 100; row < 150; row++) rows[row * DIMENSIONS] = (rows[0] ?? 0) * (1 + row * 1e-6);
    index.put(ids(0, ROWS), rows, 1);
    index.remove(ids(3_000, 200), 2);
    await index.linked();
    await index.snapshot(path);
    await index[Symbol.asyncDispose]();
    const checked = { ...SETTINGS };
    const [memory, file, half] = await Promise.all(
      [ROWS, 0, ROWS / 2].map(async (kept) => (await readSnapshot(path, checked, kept)).native),
    );
    expect(memory?.counts().resident).toBe(ROWS);
    expect(file?.counts().resident).toBeLessThan(2_000);
    expect(half?.counts().resident).toBeGreaterThanOrEqual(ROWS / 2);
    const candidates = Uint32Array.of(16, 64, 256, 1_024);
    for (let seed = 0; seed < 40; seed++) {
      const query =
        seed % 4 === 0 ? rows.slice(seed * DIMENSIONS, (seed + 1) * DIMENSIONS) : random.clustered(1, DIMENSIONS, 1);
      const [first, ...others] = await Promise.all(
        [memory, file, half].map((native) => native?.probe(candidates, query)),
      );
      expect(first?.[0]?.all.needed).toHaveLength(100);
      for (const other of others) expect(other).toEqual(first);
    }
    // Rows as queries are chosen and read, too.
    expect(await file?.probe(candidates, { rows: 40, seed: 1 })).toHaveLength(40);
    for (const native of [memory, file, half]) await native?.close();
  });

  it("H17, F17: an index measures itself and finds its target, before and after a restart", async () => {
    const random = seededVectors(202);
    const rows = random.clustered(2 * ROWS + 100, DIMENSIONS, CLUSTERS);
    const oracle = new BruteForce(DIMENSIONS);
    let index = createVectorIndex(SETTINGS, { ...MEASURING, targetRecall: 0.9 });
    const put = async (first: number): Promise<void> => {
      const vectors = rows.subarray(first * DIMENSIONS, (first + ROWS) * DIMENSIONS);
      index.put(ids(first, ROWS), vectors, first + 1);
      oracle.put(ids(first, ROWS), vectors);
      await index.linked();
    };
    await put(0);
    await index.snapshot(path);
    expect(index.statistics().resident).toBeLessThan(2_000);
    await put(ROWS);
    await index.snapshot(path);
    expect(index.statistics()).toMatchObject({ count: 2 * ROWS, deadRows: 0 });
    // With the old target, the last measurement may be of a graph that had not quite all of these rows, which is enough. With another
    // one all is measured again.
    const atRest = measuring(MEASURING, 2 * ROWS);
    index.configure(atRest.settings);
    expect(await atRest.measured).toBeGreaterThanOrEqual(0.95);
    const queries = rows.subarray(2 * ROWS * DIMENSIONS);
    expect(await recallOf(index, oracle, queries)).toBeGreaterThan(0.93);
    await index[Symbol.asyncDispose]();
    // Another target than that of the snapshot: all is measured again, from the file.
    const restarted = measuring({ ...MEASURING, targetRecall: 0.97 }, 2 * ROWS);
    index = await loadVectorIndex(path, SETTINGS, restarted.settings);
    expect(index.statistics().resident).toBeLessThan(2_000);
    expect(index.statistics().recall).toBeUndefined();
    expect(await restarted.measured).toBeGreaterThanOrEqual(0.97);
    expect(await recallOf(index, oracle, queries)).toBeGreaterThan(0.95);
    // And all of them, exactly.
    index.configure({ ...MEASURING, targetRecall: 1 });
    for (let at = 0; at < 20; at++) {
      await expectExact(index, oracle, queries.slice(at * DIMENSIONS, (at + 1) * DIMENSIONS));
    }
    await index[Symbol.asyncDispose]();
  });

  it("a damaged file ends a measurement, not the process", async () => {
    const random = seededVectors(203);
    const index = createVectorIndex(SETTINGS, { ...MEASURING, targetRecall: 0.9, ef: 64 });
    index.put(ids(0, ROWS), random.clustered(ROWS, DIMENSIONS, CLUSTERS), 1);
    await index.linked();
    await index.snapshot(path);
    for (const name of await readdir(folder)) if (name.endsWith(".rows")) await truncate(join(folder, name), 1_000_000);
    index.configure({ ...MEASURING, targetRecall: 0.9 });
    await expect(
      index.search(random.clustered(1, DIMENSIONS, 1), 10, { allowed: bitmap(ids(ROWS / 2, 500)) }),
    ).rejects.toMatchObject({ code: "dataLoss" });
    // Long enough for a measurement to begin.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(index.statistics().recall).toBeUndefined();
    await expect(index.snapshot(path)).rejects.toMatchObject({ code: "dataLoss" });
    await index[Symbol.asyncDispose]();
    await expect(loadVectorIndex(path, SETTINGS, MEASURING)).rejects.toMatchObject({ code: "dataLoss" });
  });

  it.each([SEED, SEED + 1])(
    "H17: any changes, settings and restarts: the nearest are those of all vectors (seed %i)",
    async (seed) => {
      const random = seededVectors(300 + seed);
      const oracle = new BruteForce(DIMENSIONS);
      const settings = { ...MEASURING, targetRecall: 1 };
      let index = createVectorIndex(SETTINGS, settings);
      let sequence = 0;
      const put = (documents: Uint32Array, vectors: Float32Array): void => {
        index.put(documents, vectors, ++sequence);
        oracle.put(documents, vectors);
      };
      put(ids(0, 5_000), random.clustered(5_000, DIMENSIONS, CLUSTERS));
      await index.linked();
      await index.snapshot(path);
      const steps: readonly (() => unknown)[] = [
        () => put(ids(random.below(6_000), 300), random.clustered(300, DIMENSIONS, 3)),
        // The same few again and again.
        () => {
          for (let again = 0; again < 50; again++) put(ids(7, 3), random.vectors(3, DIMENSIONS));
        },
        () => put(ids(random.below(6_000), 40), new Float32Array(40 * DIMENSIONS)),
        () => {
          const documents = ids(random.below(6_000), 200);
          index.remove(documents, ++sequence);
          oracle.remove(documents);
        },
        () => index.configure({ ...settings, vectorCacheMaxObjects: random.below(7_000) }),
        () => index.rebuild(),
        () => Promise.all([index.rebuild(), index.snapshot(path)]),
        () => index.snapshot(path),
        async () => {
          for (const name of await readdir(folder)) if (random.next() < 0.5) await rm(join(folder, name));
          await index.snapshot(path);
        },
        async () => {
          await index.snapshot(path);
          await index[Symbol.asyncDispose]();
          index = await loadVectorIndex(path, SETTINGS, {
            ...settings,
            vectorCacheMaxObjects: random.below(3) * 2_500,
          });
        },
      ];
      for (let step = 0; step < 40; step++) {
        await steps[random.below(steps.length)]?.();
        const query = step % 10 === 0 ? new Float32Array(DIMENSIONS) : random.clustered(1, DIMENSIONS, 1);
        await expectExact(index, oracle, query);
        await expectExact(index, oracle, query, bitmap(ids(random.below(6_000), 1 + random.below(500))));
      }
      expect(index.statistics().count).toBe(oracle.size);
      await index[Symbol.asyncDispose]();
    },
  );

  it.runIf(process.platform === "linux")(
    "a file that was replaced is let go, and its room on the disk with it",
    async () => {
      const random = seededVectors(206);
      let index = createVectorIndex(SETTINGS, MEASURING);
      index.put(ids(0, ROWS), random.clustered(ROWS, DIMENSIONS, CLUSTERS), 1);
      await index.linked();
      await index.snapshot(path);
      await index[Symbol.asyncDispose]();
      const open = async (): Promise<readonly string[]> => {
        const links = await Promise.all(
          (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")),
        );
        return links.filter((name) => name.startsWith(folder));
      };
      index = await loadVectorIndex(path, SETTINGS, MEASURING);
      expect(await open()).toEqual([expect.stringMatching(/\.rows$/)]);
      index.remove(ids(0, 100), 2);
      await index.rebuild();
      await index.snapshot(path);
      await expect.poll(open, { timeout: 10_000 }).toEqual([expect.stringMatching(/\.rows$/)]);
      await index[Symbol.asyncDispose]();
      await expect.poll(open, { timeout: 10_000 }).toEqual([]);
    },
  );

  it("a smaller number acts at once on what the last snapshot holds", async () => {
    const random = seededVectors(205);
    const index = createVectorIndex(SETTINGS, { ...MEASURING, vectorCacheMaxObjects: ROWS });
    index.put(ids(0, ROWS), random.clustered(ROWS, DIMENSIONS, CLUSTERS), 1);
    await index.linked();
    await index.snapshot(path);
    expect(index.statistics()).toMatchObject({ count: ROWS, deadRows: 0, resident: ROWS });
    index.configure({ ...MEASURING, vectorCacheMaxObjects: 100 });
    await expect.poll(() => index.statistics().resident, { timeout: 30_000 }).toBeLessThan(3_000);
    await index[Symbol.asyncDispose]();
  });
});
