import { readdir } from "node:fs/promises";
import { dirname } from "node:path";
import { MemoryStore } from "@shoal/kv/testing/memory-store";
import { seededRandom } from "@shoal/seeded-random";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BruteForceIndex } from "./testing/brute-force-index-suite.js";
import { CopyUnderTest } from "./testing/copies-under-test-suite.js";
import { CountedIndexes } from "./testing/counted-indexes.js";
import { numberOf } from "./testing/ids-and-fields.js";
import { book, INDEX_CONFIG, idOf } from "./testing/shard-under-test-suite.js";
import type { VectorIndexes } from "./vector-indexes.js";

const DIMENSIONS = 16;
/** Enough for a graph. */
const OBJECTS = 5_000;
const limits = { snapshotChangesMin: 1_000_000, snapshotQuietMs: 60_000 };

let primary: CopyUnderTest;
let learner: CopyUnderTest;
let indexes: CountedIndexes;
let kills = 0;
let random = seededRandom(1);
/** What is written, by number. */
let model: Map<number, readonly number[] | undefined>;

async function copyOf(name: string, vectorIndexes: VectorIndexes, config = INDEX_CONFIG): Promise<CopyUnderTest> {
  const options = { limits, vectorIndexes, vectorIndexConfig: config };
  const copy = await CopyUnderTest.create(name, options, undefined, new MemoryStore());
  await copy.open();
  return copy;
}

beforeEach(async () => {
  random = seededRandom(7);
  model = new Map();
  kills = 0;
  indexes = new CountedIndexes();
  primary = await copyOf("a/1", new CountedIndexes());
  learner = await copyOf("b/1", indexes);
  learner.onGraphPiece = (piece) => piece;
  primary.keepEntries = 5;
  for (let from = 0; from < OBJECTS; from += 500) await put(Array.from({ length: 500 }, (_, at) => from + at));
  await primary.shard.linked();
});
afterEach(async () => {
  for (const copy of [primary, learner]) {
    await copy.close().catch(() => undefined);
    await copy[Symbol.asyncDispose]();
  }
  // Of processes that were killed there is one each.
  expect(indexes.alive.size).toBeLessThanOrEqual(kills);
});

const vector = () => Array.from({ length: DIMENSIONS }, () => random.next() - 0.5);

async function put(numbers: readonly number[], make: () => number[] | undefined = vector): Promise<void> {
  const objects = numbers.map((at) => {
    model.set(at, make());
    return book(idOf(at), model.get(at), {});
  });
  const outcomes = await primary.shard.putObjects(objects, "upsert");
  for (const outcome of outcomes) if (outcome instanceof Error) throw outcome;
}

async function kill(): Promise<void> {
  kills++;
  await learner.open();
}

async function remove(at: number): Promise<void> {
  model.delete(at);
  await primary.shard.deleteObject(idOf(at));
}

/** Replaces, deletes, makes anew, takes vectors away. Returns the most vectors that this can leave to be linked. */
async function change(times: number): Promise<number> {
  for (let left = times; left > 0; left--) {
    const at = random.below(OBJECTS + 200);
    if (random.oneIn(3)) await remove(at);
    else await put([at], random.oneIn(6) ? () => undefined : vector);
  }
  return times;
}

/** What an index that compares with everything finds is found, and nothing else: also where filters make the search exact. */
async function expectRight(copy: CopyUnderTest): Promise<void> {
  const oracle = new BruteForceIndex(DIMENSIONS, {} as never);
  const living = [...model].flatMap(([at, one]) => (one === undefined ? [] : [{ at, one }]));
  for (const { at, one } of living) oracle.put(Uint32Array.of(at), Float32Array.from(one), 1);
  expect(copy.shard.objectCount).toBe(model.size);
  expect(copy.shard.statistics().vectors?.count).toBe(living.length);
  let found = 0;
  for (let round = 0; round < 40; round++) {
    const query = Float32Array.from(vector());
    const hits = await copy.shard.searchByVector({ vector: query, count: 10, fields: undefined });
    const { documents, distances } = await oracle.search(query, 10);
    expect(hits.length).toBe(10);
    for (const { id, distance } of hits) {
      const one = model.get(numberOf(id));
      expect(one).toBeDefined();
      // Each hit is at the distance of its own vector: none is where another object's was.
      const alone = new BruteForceIndex(DIMENSIONS, {} as never);
      alone.put(Uint32Array.of(0), Float32Array.from(one ?? []), 1);
      expect(distance).toBeCloseTo((await alone.search(query, 1)).distances[0] ?? Number.NaN, 5);
    }
    found += hits.filter(({ id }) => documents.includes(numberOf(id))).length;
    expect(hits[0]?.distance).toBeLessThanOrEqual((distances[9] ?? 0) + 1e-5);
  }
  expect(found).toBeGreaterThan(40 * 10 * 0.9);
  // All vectors at once: nothing is left out, nothing is double.
  const all = await copy.shard.searchByVector({
    vector: Float32Array.from(vector()),
    count: 10_000,
    fields: undefined,
  });
  expect(all.map(({ id }) => numberOf(id)).sort((a, b) => a - b)).toEqual(
    living.map(({ at }) => at).sort((a, b) => a - b),
  );
}

describe("a full copy with the graph of the primary", () => {
  it("links nothing when nothing has changed since, and goes on as any copy", async () => {
    expect(learner.commonWith(primary).isFull).toBe(true);
    expect(await learner.catchUpWith(primary, 100_000)).toBe(true);
    expect(learner.copy.hasCopiedGraph).toBe(true);
    expect(indexes.links).toBe(0);
    await expectRight(learner);
    expect(learner.under.damages()).toEqual([]);
    expect((await readdir(dirname(learner.under.path("vectors.snapshot")))).join()).not.toContain("received");
    primary.followers = [learner];
    const changes = await change(50);
    expect(indexes.links).toBeLessThanOrEqual(changes);
    await expectRight(learner);
    await learner.shard.snapshot();
    await kill();
    expect(learner.under.recovered()).toMatchObject({ rebuilt: [] });
    await expectRight(learner);
  });

  it("has the end of no journal, and as many objects as have come, until it has all", async () => {
    const seen: (readonly [end: number, objects: number])[] = [];
    const between = async () => {
      seen.push([learner.copy.state.end.sequence, learner.shard.objectCount]);
      return true;
    };
    expect(await learner.catchUpWith(primary, 100_000, between)).toBe(true);
    const partial = seen.filter(([, objects]) => objects > 0 && objects < OBJECTS);
    expect(partial.length).toBeGreaterThan(2);
    expect(partial.map(([end]) => end)).toEqual(partial.map(() => 0));
    expect(learner.shard.objectCount).toBe(OBJECTS);
    expect(learner.copy.state.end.sequence).toBeGreaterThan(0);
  });

  it.each([1, 2, 3, 4, 5, 6])("links what has changed, whatever changes meanwhile, seed %i", async (seed) => {
    random = seededRandom(seed);
    // What the learner held before, in other documents.
    if (random.oneIn(2)) {
      const others = Array.from({ length: 600 }, (_, at) => book(idOf(at * 7), vector(), {}));
      await learner.shard.putObjects(others, "upsert");
    }
    let changes = await change(random.below(200));
    learner.graphPieceBytes = random.pick([999, 20_000, 1 << 20]);
    const snapshot = random.oneIn(2) ? undefined : primary.shard.snapshot.bind(primary.shard);
    await snapshot?.();
    const attempts = random.below(3);
    for (let attempt = 0; ; attempt++) {
      let pages = random.below(8);
      // Where it ends in the middle, it begins again.
      const between = async () => {
        if (pages-- > 0) changes += await change(random.below(20));
        return attempt >= attempts || pages > 0;
      };
      if (await learner.catchUpWith(primary, random.pick([30_000, 100_000]), between)) break;
      primary.queued = undefined;
      changes += await change(random.below(40));
      if (random.oneIn(2)) await kill();
    }
    expect(indexes.links).toBeLessThanOrEqual(changes);
    expect(learner.under.damages()).toEqual([]);
    await expectRight(learner);
    // Who takes over gives out the documents that are free.
    [primary, learner] = [learner, primary];
    primary.epoch = 2;
    await change(100);
    await expectRight(primary);
  });

  it("is no worse with a graph of long ago, of which nothing is left", async () => {
    const pieces = await primary.copy.openGraph();
    const old: Uint8Array[] = [];
    for (let piece = await pieces?.next(1 << 20); piece !== undefined; piece = await pieces?.next(1 << 20))
      old.push(piece);
    await pieces?.close();
    for (let at = 0; at < OBJECTS; at += 2) await remove(at);
    await put(Array.from({ length: 700 }, (_, at) => at * 3));
    learner.onGraphPiece = undefined;
    for (const [at, piece] of old.entries()) {
      expect(await learner.copy.takeGraph(at, piece, at === old.length - 1)).toBe(true);
    }
    expect(await learner.catchUpWith(primary, 100_000)).toBe(true);
    expect(indexes.links).toBeLessThanOrEqual(700);
    await expectRight(learner);
  });
});

describe("a graph that cannot be used", () => {
  const flipped = (piece: Uint8Array, at: number) => {
    piece[at] = (piece[at] ?? 0) ^ 1;
    return piece;
  };
  it.each<[string, (piece: Uint8Array, number: number) => Uint8Array | undefined, isReported: boolean]>([
    ["is not sent to its end", (piece, number) => (number === 4 ? undefined : piece), false],
    ["has a byte that is another one", (piece, number) => (number === 5 ? flipped(piece, 777) : piece), true],
    ["has a short piece", (piece, number) => (number === 5 ? piece.subarray(9) : piece), true],
    ["has an empty beginning", (piece, number) => (number === 0 ? piece.subarray(0, 2) : piece), true],
    ["has a manifest that is none", (piece, number) => (number === 0 ? flipped(piece, 30) : piece), true],
    // The count of its documents is too small: the rest would stay. Nothing is damaged.
    ["does not name all of its documents", (piece, number) => (number === 0 ? piece.fill(0, 0, 4) : piece), false],
  ])("as it %s: the rows are linked", async (what, spoil, isReported) => {
    learner.onGraphPiece = spoil;
    for (let at = 0; at < 40; at++) {
      // Of these the graph still knows.
      if (at === 20) await primary.shard.snapshot();
      await remove(at);
    }
    const open = primary.copy.openGraph.bind(primary.copy);
    const early = await open();
    for (let at = 40; at < 60; at++) await remove(at);
    primary.copy.openGraph = async () => early;
    expect(await learner.catchUpWith(primary, 100_000)).toBe(true);
    await expectRight(learner);
    expect(learner.copy.hasCopiedGraph).toBe(false);
    expect(learner.under.damages()).toEqual(isReported ? ["snapshot"] : []);
    const unfit = learner.under.events.filter(({ type }) => type === "copiedGraphUnfit");
    expect(unfit).toEqual(
      what.startsWith("does not name") ? [expect.objectContaining({ expected: OBJECTS - 60 })] : [],
    );
    expect((await readdir(dirname(learner.under.path("vectors.snapshot")))).join()).not.toContain("received");
  });

  it("is that of a class with other settings", async () => {
    await learner[Symbol.asyncDispose]();
    learner = await copyOf("c/1", indexes, { ...INDEX_CONFIG, maxConnections: 32 });
    learner.onGraphPiece = (piece) => piece;
    expect(await learner.catchUpWith(primary, 1e6)).toBe(true);
    expect(learner.under.damages()).toEqual(["snapshot"]);
    await expectRight(learner);
  });

  it("is that of vectors of another length", async () => {
    const other = await copyOf("c/1", new CountedIndexes());
    const numbers = Array.from({ length: OBJECTS }, (_, at) => at);
    await other.shard.putObjects(
      numbers.map((at) => book(idOf(at), vector().slice(3), {})),
      "upsert",
    );
    await other.shard.linked();
    primary.copy.openGraph = other.copy.openGraph.bind(other.copy);
    expect(await learner.catchUpWith(primary, 1e6)).toBe(true);
    await expectRight(learner);
    await other.close();
    await other[Symbol.asyncDispose]();
  });

  it("is none: the copy of a small shard is linked", async () => {
    const small = await copyOf("c/1", new CountedIndexes());
    expect(await small.copy.openGraph()).toBeUndefined();
    await small.shard.putObjects([book(idOf(1), vector(), {})], "upsert");
    expect(await small.copy.openGraph()).toBeUndefined();
    await small.close();
    await small[Symbol.asyncDispose]();
  });

  it("was received by a process that was killed: nothing is left of it", async () => {
    const pieces = await primary.copy.openGraph();
    for (let at = 0; at < 3; at++) {
      expect(await learner.copy.takeGraph(at, (await pieces?.next(50_000)) ?? Buffer.alloc(0), false)).toBe(true);
    }
    await pieces?.close();
    const files = () => readdir(dirname(learner.under.path("vectors.snapshot")));
    expect((await files()).join()).toContain("received");
    await kill();
    expect((await files()).join()).not.toContain("received");
    expect(await learner.copy.takeGraph(3, Buffer.alloc(10), false)).toBe(false);
  });
});
