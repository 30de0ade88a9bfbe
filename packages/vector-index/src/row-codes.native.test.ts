import { describe, expect, it } from "vitest";
import { BruteForce, bitmap } from "./brute-force.js";
import { createVectorIndex } from "./index.js";
import { meanRecall } from "./mean-recall.js";
import { Seeded } from "./seeded-vectors.js";

const ROWS = 6000;
const QUERIES = 60;
const DOCUMENTS = Uint32Array.from({ length: ROWS }, (_, i) => i);

type Rows = (random: Seeded, dimensions: number, count: number) => Float32Array;

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

const KINDS: readonly (readonly [string, Rows])[] = [
  ["in clusters", (random, dimensions, count) => random.clustered(count, dimensions, 40)],
  ["some of which hardly differ", tight(0.01, 0.3)],
  ["some of which are much closer than codes can tell", tight(0.0005, 0.3)],
  ["nearly all of which are closer than codes can tell", tight(0.002, 0.97)],
  ["in the shadow of one large number", overshadowed(20)],
];

describe.each(KINDS)("rows %s", (_, make) => {
  it.each([40, 100, 300])("are found in %i dimensions", async (dimensions) => {
    const random = new Seeded(dimensions);
    const all = make(random, dimensions, ROWS + QUERIES);
    const rows = all.slice(0, ROWS * dimensions);
    const queries = all.slice(ROWS * dimensions);
    const oracle = new BruteForce(dimensions);
    oracle.put(DOCUMENTS, rows);
    // A filter is no reason to scan then: what is found is found by walking.
    const search = { ef: 100, flatSearchCutoff: 0, graphTailMax: 10_000, cleanupIntervalSeconds: 0 };
    await using index = createVectorIndex({ dimensions, maxConnections: 64, efConstruction: 128 }, search);
    index.put(DOCUMENTS, rows, 1);
    await index.linked();
    const half = bitmap(DOCUMENTS.filter((document) => document % 2 === 0));
    expect(await meanRecall(index, oracle, queries, 10, bitmap(DOCUMENTS))).toBeGreaterThan(0.97);
    expect(await meanRecall(index, oracle, queries, 10, half)).toBeGreaterThan(0.97);
  });
});
