import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MeasuredRecall } from "@shoal/model";
import { NativeVectorIndex } from "@shoal/native";
import { afterAll, describe, expect, it } from "vitest";
import { createVectorIndex, loadVectorIndex } from "./graph-vector-index.js";
import { type SeededVectors, seededVectors } from "./testing/seeded-vectors.js";
import type { VectorIndex } from "./vector-index.js";

const ROWS = Number(process.env.SHOAL_RECALL_ROWS ?? 10_000);
const SEED = Number(process.env.SHOAL_TEST_SEED ?? 1);
const QUERIES = 300;
const TARGET = 0.98;
const SEARCH = { ef: -1, flatSearchCutoff: 0, unindexedVectorsMax: 10_000, cleanupIntervalSeconds: 0 };
const GRAPH = { maxConnections: 64, efConstruction: 128 };

interface Data {
  readonly dimensions: number;
  readonly rows: Float32Array;
  /** The first half may be asked before recall is looked at. */
  readonly queries: Float32Array;
}

/** `count` vectors, each of which `draw` makes. */
function drawn(count: number, dimensions: number, draw: (to: Float32Array) => void): Float32Array {
  const all = new Float32Array(count * dimensions);
  for (let at = 0; at < count; at++) draw(all.subarray(at * dimensions, (at + 1) * dimensions));
  return all;
}

function both(rows: number, dimensions: number, draw: (to: Float32Array) => void): Data {
  return { dimensions, rows: drawn(rows, dimensions, draw), queries: drawn(2 * QUERIES, dimensions, draw) };
}

/** Clusters whose sizes fall off as 1 / rank, and whose widths differ by a factor of about ten. */
function unequalClusters(random: SeededVectors, rows: number, dimensions: number, clusters: number): Data {
  const centres = random.vectors(clusters, dimensions);
  const widths = Array.from({ length: clusters }, () => 0.5 * Math.exp(0.7 * random.normal()));
  return both(rows, dimensions, (to) => {
    const cluster = Math.floor(clusters ** random.next()) - 1;
    for (let i = 0; i < dimensions; i++) {
      to[i] = (centres[cluster * dimensions + i] ?? 0) + (widths[cluster] ?? 1) * random.normal();
    }
  });
}

function severalScales(random: SeededVectors, rows: number, dimensions: number): Data {
  const levels = [1, 0.5, 0.2].map((width) => ({ width, centres: random.vectors(40, dimensions) }));
  return both(rows, dimensions, (to) => {
    for (const { width, centres } of levels) {
      const from = random.below(40) * dimensions;
      for (let i = 0; i < dimensions; i++) to[i] = (to[i] ?? 0) + width * (centres[from + i] ?? 0);
    }
    for (let i = 0; i < dimensions; i++) to[i] = (to[i] ?? 0) + 0.08 * random.normal();
  });
}

function nearDuplicates(random: SeededVectors, rows: number, dimensions: number): Data {
  const originals = random.vectors(Math.ceil(rows / 10), dimensions);
  return both(rows, dimensions, (to) => {
    const from = random.below(originals.length / dimensions) * dimensions;
    for (let i = 0; i < dimensions; i++) to[i] = (originals[from + i] ?? 0) + 0.02 * random.normal();
  });
}

/** Few dimensions of their own, bent into many. */
function lowIntrinsic(random: SeededVectors, rows: number, dimensions: number): Data {
  const inner = 10;
  const weights = random.vectors(inner, dimensions);
  return both(rows, dimensions, (to) => {
    const point = Array.from({ length: inner }, () => random.normal());
    for (let i = 0; i < dimensions; i++) {
      let sum = 0;
      for (let j = 0; j < inner; j++) sum += (point[j] ?? 0) * (weights[j * dimensions + i] ?? 0);
      to[i] = Math.tanh(sum / 2);
    }
  });
}

const DISTRIBUTIONS: Readonly<Record<string, (random: SeededVectors) => Data>> = {
  "clusters of very unequal sizes, 256-d": (random) => unequalClusters(random, ROWS, 256, 100),
  "clusters of very unequal sizes, 32-d": (random) => unequalClusters(random, ROWS, 32, 200),
  "near duplicates, 128-d": (random) => nearDuplicates(random, ROWS, 128),
  "several scales, 128-d": (random) => severalScales(random, ROWS, 128),
  "uniform directions, 48-d": (random) => {
    return both(ROWS, 48, (to) => to.set(random.vectors(1, 48)));
  },
  "few dimensions of their own, 512-d": (random) => lowIntrinsic(random, ROWS, 512),
  "clusters, 1,536-d": (random) => unequalClusters(random, ROWS / 2, 1_536, 40),
};

async function filled({ dimensions, rows }: Data, targetRecall: number): Promise<VectorIndex> {
  const index = createVectorIndex({ ...GRAPH, dimensions }, { ...SEARCH, targetRecall });
  const count = rows.length / dimensions;
  for (let from = 0; from < count; from += 1_000) {
    const documents = Uint32Array.from({ length: Math.min(1_000, count - from) }, (_, i) => from + i);
    index.put(documents, rows.subarray(from * dimensions, (from + documents.length) * dimensions), from + 1);
  }
  await index.linked();
  return index;
}

/** Of the nearest `count` of each query, the mean share that the index finds. */
async function recallOf(index: VectorIndex, exact: VectorIndex, queries: Float32Array, count: number): Promise<number> {
  const { dimensions } = index;
  let found = 0;
  const total = queries.length / dimensions;
  for (let at = 0; at < total; at++) {
    const query = queries.subarray(at * dimensions, (at + 1) * dimensions);
    const [one, other] = await Promise.all([index.search(query, count), exact.search(query, count)]);
    const farthest = (other.distances.at(-1) ?? 0) + 1e-6;
    found += one.distances.filter((distance) => distance <= farthest).length / count;
  }
  return found / total;
}

async function measured(index: VectorIndex, is: (recall: MeasuredRecall) => boolean): Promise<MeasuredRecall> {
  await expect
    .poll(() => index.statistics().recall, { timeout: 60_000, interval: 50 })
    .toSatisfy((recall: MeasuredRecall | undefined) => recall !== undefined && is(recall));
  const { recall } = index.statistics();
  if (recall === undefined) throw new Error("nothing was measured");
  return recall;
}

describe("recall that an index measures of itself (F17)", () => {
  for (const [name, draw] of Object.entries(DISTRIBUTIONS)) {
    it(`${name}: seed ${SEED}`, async () => {
      const data = draw(seededVectors(SEED));
      await using index = await filled(data, TARGET);
      await using exact = await filled(data, 1);
      const { queries } = data;
      const held = queries.subarray(queries.length / 2);
      expect(await recallOf(index, exact, held, 10), "before").toBeGreaterThan(0.95);
      const recall = await measured(index, ({ sample }) => sample > 64);
      expect(recall.recall - recall.error).toBeGreaterThanOrEqual(TARGET);
      expect(await recallOf(index, exact, held, 10), "of ten").toBeGreaterThan(TARGET - 0.01);
      expect(await recallOf(index, exact, held, 100), "of a hundred").toBeGreaterThan(TARGET - 0.01);
      // One query in three hundred is a third of a per cent.
      expect(await recallOf(index, exact, held, 1), "of one").toBeGreaterThan(TARGET - 0.03);
    });
  }

  it(`follows queries from elsewhere than rows: seed ${SEED}`, async () => {
    const random = seededVectors(SEED);
    const rows = unequalClusters(random, ROWS, 96, 100);
    const data = { ...rows, queries: random.vectors(2 * QUERIES, 96) };
    await using index = await filled(data, TARGET);
    await using exact = await filled(data, 1);
    await measured(index, ({ sample }) => sample > 64);
    const asked = data.queries.subarray(0, data.queries.length / 2);
    await recallOf(index, exact, asked, 10);
    await measured(index, ({ queries }) => queries === "asked");
    const held = data.queries.subarray(data.queries.length / 2);
    expect(await recallOf(index, exact, held, 10)).toBeGreaterThan(TARGET - 0.01);
  });

  it("is measured again when a rebuild has left fewer rows", async () => {
    const data = unequalClusters(seededVectors(SEED), ROWS, 64, 100);
    await using index = await filled(data, TARGET);
    await measured(index, ({ sample }) => sample > 64);
    index.remove(
      Uint32Array.from({ length: ROWS / 2 }, (_, at) => 2 * at),
      2 * ROWS,
    );
    await index.rebuild();
    const { linked } = await measured(index, (recall) => recall.sample > 64 && recall.linked < ROWS);
    expect(linked).toBe(ROWS / 2);
  });

  it("finds more for a higher target, all for 1, and what a number says for that", async () => {
    const data = unequalClusters(seededVectors(SEED), ROWS, 64, 100);
    await using index = await filled(data, 0.9);
    const low = await measured(index, ({ sample }) => sample > 64);
    index.configure({ ...SEARCH, targetRecall: 0.995 });
    const high = await measured(index, ({ target, sample }) => target === 0.995 && sample > 64);
    expect(high.recall).toBeGreaterThan(low.recall);
    expect(high.candidates === 0 || high.candidates > low.candidates).toBe(true);
    index.configure({ ...SEARCH, ef: 64, targetRecall: 0.995 });
    expect(index.statistics().recall).toBeUndefined();
    index.configure({ ...SEARCH, targetRecall: 1 });
    expect(index.statistics().recall).toBeUndefined();
    await using exact = await filled(data, 1);
    expect(await recallOf(index, exact, data.queries, 10)).toBe(1);
  });
});

describe("a probe", () => {
  it("knows what a search with any number of candidates finds", async () => {
    const random = seededVectors(SEED);
    const data = unequalClusters(random, 6_000, 40, 50);
    const { dimensions, rows, queries } = data;
    const native = new NativeVectorIndex(dimensions, GRAPH.maxConnections, GRAPH.efConstruction);
    const documents = Uint32Array.from({ length: 6_000 }, (_, i) => i * 3);
    native.put(documents, rows);
    await native.awaitUnindexed(0);
    native.remove(documents.filter((_, at) => at % 7 === 0));
    await using exact = await filled({ ...data, rows: rows.slice() }, 1);
    exact.remove(
      Uint32Array.from({ length: 858 }, (_, at) => 7 * at),
      9_000,
    );
    let [found, promised] = [0, 0];
    for (let at = 0; at < 40; at++) {
      const query = queries.subarray(at * dimensions, (at + 1) * dimensions);
      const nearest = await exact.search(query, 10);
      const [probe] = await native.probe(Uint32Array.of(10, 40, 160), query);
      expect(probe?.linked).toBe(6_000);
      // With as many candidates as results, rounding decides on the last one.
      for (const ef of [14, 17, 40, 100, 160]) {
        const { integers } = await native.search(query, 10, 1, ef, 0, undefined, () => {});
        nearest.documents.forEach((document, place) => {
          const isFound = integers.includes(3 * document);
          const isPromised = (probe?.all.needed[place] ?? ef + 1) <= ef;
          if (isPromised) expect(isFound, `query ${at}, ef ${ef}, place ${place}`).toBe(true);
          if (isFound) found++;
          if (isPromised) promised++;
        });
      }
    }
    // Some seem farther than others that only a longer walk has met.
    expect(promised).toBeGreaterThan(0.99 * found);
    // Together as alone; every other one under the filter.
    const candidates = Uint32Array.of(10, 40, 160);
    const together = await native.probe(candidates, queries.subarray(0, 20 * dimensions));
    expect(together).toHaveLength(20);
    for (const [at, one] of together.entries()) {
      const [alone] = await native.probe(candidates, queries.subarray(at * dimensions, (at + 1) * dimensions));
      expect(one.quarter.needed).toHaveLength(at % 2 === 0 ? 10 : 0);
      expect(at % 2 === 0 ? one : { ...one, quarter: alone?.quarter }).toEqual(alone);
    }
    await native.close();
    expect(await native.probe(Uint32Array.of(10), { rows: 1, seed: 1 }).catch(() => [])).toEqual([]);
  });
});

describe("a measurement", () => {
  let folder: string | undefined;
  afterAll(async () => {
    if (folder !== undefined) await rm(folder, { recursive: true });
  });

  it("is kept in the snapshot", async () => {
    folder = await mkdtemp(join(tmpdir(), "shoal-recall-"));
    const path = join(folder, "vectors.snapshot");
    const data = unequalClusters(seededVectors(SEED), 6_000, 32, 50);
    const index = await filled(data, TARGET);
    const before = await measured(index, ({ sample }) => sample > 64);
    await index.snapshot(path);
    await index[Symbol.asyncDispose]();
    const settings = { ...GRAPH, dimensions: 32 };
    await using same = await loadVectorIndex(path, settings, { ...SEARCH, targetRecall: TARGET });
    expect(same.statistics().recall).toEqual(before);
    await using other = await loadVectorIndex(path, settings, { ...SEARCH, targetRecall: 0.9 });
    expect(other.statistics().recall).toBeUndefined();
    expect((await measured(other, ({ sample }) => sample > 64)).target).toBe(0.9);
  });
});
