import { NativeVectorIndex } from "@shoal/native";
import { describe, expect, it } from "vitest";
import { createVectorIndex } from "./index.js";
import { BruteForce, bitmap } from "./testing/brute-force.js";
import { meanRecall } from "./testing/mean-recall.js";
import { type SeededVectors, seededVectors } from "./testing/seeded-vectors.js";

const ROWS = 6000;
const QUERIES = 60;
const DOCUMENTS = Uint32Array.from({ length: ROWS }, (_, i) => i);

type Rows = (random: SeededVectors, dimensions: number, count: number) => Float32Array;

/** In clusters, but a `share` of them copies, each number of which differs by about `spread`; the others are of about 1. */
const tight =
  (spread: number, share: number): Rows =>
  (random, dimensions, count) => {
    const rows = random.clustered(count, dimensions, 40);
    for (let row = 40; row < count; row++) {
      if (random.next() >= share) continue;
      const source = row % 10;
      for (let i = 0; i < dimensions; i++)
        rows[row * dimensions + i] = (rows[source * dimensions + i] ?? 0) + spread * random.normal();
    }
    return rows;
  };

/** What tells rows apart is small beside one number that they nearly have in common. */
const overshadowed =
  (large: number): Rows =>
  (random, dimensions, count) => {
    const rows = random.clustered(count, dimensions, 40);
    for (let row = 0; row < count; row++) rows[row * dimensions + (row % 3)] = large + random.normal();
    return rows;
  };

/** Each has a large number of its own. */
const spiked =
  (large: number): Rows =>
  (random, dimensions, count) => {
    const rows = random.clustered(count, dimensions, 40);
    for (let row = 0; row < count; row++) rows[row * dimensions + random.below(dimensions)] = large;
    return rows;
  };

/** Zeros, a few numbers of about 1, and some that hardly count: as of pictures. */
const sparse: Rows = (random, dimensions, count) => {
  const rows = random.clustered(count, dimensions, 40);
  for (let at = 0; at < rows.length; at++) {
    const value = Math.max(0, rows[at] ?? 0);
    rows[at] = value < 0.5 ? 0.002 * random.next() : value;
  }
  return rows;
};

/** `least`: of the ten nearest, to the seventh place of a distance, with so many candidates. */
interface Kind {
  readonly name: string;
  readonly make: Rows;
  readonly ef: number;
  readonly least: number;
}

const KINDS: readonly Kind[] = [
  {
    name: "in clusters",
    make: (random, dimensions, count) => random.clustered(count, dimensions, 40),
    ef: 100,
    least: 0.97,
  },
  { name: "in the shadow of one large number", make: overshadowed(20), ef: 100, least: 0.97 },
  { name: "in the shadow of one very large number", make: overshadowed(400), ef: 100, least: 0.97 },
  { name: "each with a large number of its own", make: spiked(100), ef: 100, least: 0.9 },
  { name: "with numbers that hardly count", make: sparse, ef: 100, least: 0.97 },
  // So many near copies are hard to find for anybody: by halves it is .42 to .51, and .80 to .83; by codes alone .24 to
  // .29, and .66 to .71.
  { name: "most of which hardly differ", make: tight(0.05, 0.97), ef: 30, least: 0.36 },
  { name: "most of which differ little", make: tight(0.1, 0.97), ef: 30, least: 0.74 },
];

const ALL = bitmap(DOCUMENTS);
/** A filter is no reason to scan with this cutoff: what is found is found by walking. */
const walking = (ef: number) => ({
  ef,
  targetRecall: 0.98,
  flatSearchCutoff: 0,
  unindexedVectorsMax: 10_000,
  cleanupIntervalSeconds: 0,
});
const settings = (dimensions: number) => ({ dimensions, maxConnections: 64, efConstruction: 128 });

describe.each(KINDS)("rows $name", ({ make, ef, least }) => {
  it.each([40, 100, 300])("are found in %i dimensions", async (dimensions) => {
    const random = seededVectors(dimensions);
    const all = make(random, dimensions, ROWS + QUERIES);
    const rows = all.slice(0, ROWS * dimensions);
    const oracle = new BruteForce(dimensions);
    oracle.put(DOCUMENTS, rows);
    await using index = createVectorIndex(settings(dimensions), walking(ef));
    index.put(DOCUMENTS, rows, 1);
    await index.linked();
    const queries = all.slice(ROWS * dimensions);
    expect(await meanRecall(index, oracle, queries, 10, ALL, 1e-7)).toBeGreaterThan(least);
  });
});

it.each([
  { name: "in clusters", make: KINDS[0]?.make, suffice: true },
  { name: "with numbers that hardly count", make: sparse, suffice: true },
  { name: "each with a large number of its own", make: spiked(100), suffice: false },
])("codes of rows $name suffice: $suffice", async ({ make = sparse, suffice }) => {
  const native = new NativeVectorIndex(100, 64, 128);
  native.put(DOCUMENTS, make(seededVectors(3), 100, ROWS));
  await native.awaitUnindexed(0);
  await native.pin();
  expect(native.freeze().codesSuffice).toBe(suffice);
  native.unpin();
  await native.close();
});

it.each([100, 784])("a query with one number that hides the others is found in %i dimensions", async (dimensions) => {
  const random = seededVectors(dimensions);
  const rows = random.clustered(ROWS, dimensions, 40);
  for (let row = 0; row < ROWS; row++) rows[row * dimensions] = 0;
  const oracle = new BruteForce(dimensions);
  oracle.put(DOCUMENTS, rows);
  await using index = createVectorIndex(settings(dimensions), walking(100));
  index.put(DOCUMENTS, rows, 1);
  await index.linked();
  for (const hiding of [30, 100, 1000]) {
    const queries = random.clustered(QUERIES, dimensions, 40);
    for (let query = 0; query < QUERIES; query++) queries[query * dimensions] = hiding;
    // By halves .90 to .96. Where the codes tell nothing but the hiding number it would be a tenth of that.
    expect(await meanRecall(index, oracle, queries, 10, ALL, 1e-7)).toBeGreaterThan(0.85);
  }
});

it.each([40, 100])(
  "codes follow their rows through replacement, removal and rebuild in %i dimensions",
  async (dimensions) => {
    const random = seededVectors(dimensions);
    const clusters = 40;
    await using index = createVectorIndex(settings(dimensions), walking(100));
    const oracle = new BruteForce(dimensions);
    const put = (documents: Uint32Array, vectors: Float32Array): void => {
      index.put(documents, vectors, 1);
      oracle.put(documents, vectors);
    };
    put(DOCUMENTS, random.clustered(ROWS, dimensions, clusters));
    // Most of these die before they are linked: others take their places.
    put(DOCUMENTS.subarray(ROWS / 2), random.clustered(ROWS / 2, dimensions, clusters));
    const removed = DOCUMENTS.filter((document) => document % 3 === 0);
    index.remove(removed, 2);
    oracle.remove(removed);
    await index.linked();
    const queries = random.clustered(QUERIES, dimensions, clusters);
    expect(await meanRecall(index, oracle, queries, 10, ALL)).toBeGreaterThan(0.95);
    await index.rebuild();
    expect(await meanRecall(index, oracle, queries, 10, ALL)).toBeGreaterThan(0.95);
  },
);
