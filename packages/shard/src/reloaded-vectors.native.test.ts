import { MemoryStore } from "@shoal/kv/testing/memory-store";
import { seededRandom } from "@shoal/seeded-random";
import { createVectorIndex, loadVectorIndex } from "@shoal/vector-index";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RoomBounds, Shard } from "./shard.js";
import { cosineDistance } from "./testing/brute-force-index-suite.js";
import { book, idOf, ShardUnderTest } from "./testing/shard-under-test-suite.js";

const DIMENSIONS = 64;
const OBJECTS = 2_500;
/** Small enough for an index without a graph, whose searches are exact. */
const COUNT = 10;

/** Says that it has failed, and keeps what it was given. */
class DoubtfulStore extends MemoryStore {
  failure: Error | undefined;

  override async write(...call: Parameters<MemoryStore["write"]>): Promise<void> {
    await super.write(...call);
    if (this.failure !== undefined) throw this.failure;
  }
}

const FULL: RoomBounds = { hasRoom: () => false, mayReload: true };
const real = { create: createVectorIndex, load: loadVectorIndex };

describe("Shard.makeRoom", () => {
  let under: ShardUnderTest;
  let shard: Shard;
  let random = seededRandom(1);
  /** What the shard has to hold. */
  let vectors: Map<number, Float32Array>;
  beforeEach(async () => {
    random = seededRandom(29);
    vectors = new Map();
    under = await ShardUnderTest.create(new MemoryStore());
    shard = await under.open({ vectorIndexes: real, limits: { snapshotChangesMin: 300, snapshotQuietMs: 5 } });
    await put(0, OBJECTS);
  });
  afterEach(async () => {
    await shard[Symbol.asyncDispose]();
    await under[Symbol.asyncDispose]();
  });

  const randomVector = () => Float32Array.from({ length: DIMENSIONS }, () => random.next() - 0.5);

  async function put(from: number, to: number): Promise<void> {
    const objects = [];
    for (let at = from; at < to; at++) {
      const vector = randomVector();
      vectors.set(at, vector);
      objects.push(book(idOf(at), [...vector]));
    }
    await shard.putObjects(objects, "upsert");
  }

  async function remove(from: number, to: number): Promise<void> {
    for (let at = from; at < to; at++) vectors.delete(at);
    await Promise.all(Array.from({ length: to - from }, (_, at) => shard.deleteObject(idOf(from + at))));
  }

  const search = async (query: Float32Array) =>
    (await shard.searchByVector({ vector: query, count: COUNT, fields: undefined })).map(({ id }) => id);

  const expected = (query: Float32Array) =>
    [...vectors]
      .map(([at, vector]) => ({ id: idOf(at), distance: cosineDistance(query, vector) }))
      .sort((a, b) => a.distance - b.distance)
      .slice(0, COUNT)
      .map(({ id }) => id);

  async function checkAll(): Promise<void> {
    for (let round = 0; round < 10; round++) {
      const query = randomVector();
      expect(await search(query)).toEqual(expected(query));
    }
    const { vectors: index, unsnapshotChanges } = shard.statistics();
    expect(unsnapshotChanges).toBeGreaterThanOrEqual(0);
    expect(index?.count).toBe(vectors.size);
  }

  it.each([
    ["beside the one in use", true],
    ["from the rows", false],
  ])("leaves out what was removed: %s", async (_, hasRoom) => {
    await remove(0, 1_500);
    const before = shard.statistics().vectors;
    expect(before?.deadRows).toBe(1_500);
    const asked: number[] = [];
    await shard.makeRoom({
      hasRoom: (bytes) => {
        asked.push(bytes);
        return hasRoom;
      },
      mayReload: true,
    });
    expect(asked).toEqual([((before?.memoryBytes ?? 0) * 1_000) / 2_500]);
    const after = shard.statistics().vectors;
    expect(after).toMatchObject({ count: 1_000, deadRows: 0 });
    expect(after?.memoryBytes).toBeLessThan((before?.memoryBytes ?? 0) * 0.6);
    expect(under.events.filter(({ type }) => type === "vectorsReloaded")).toHaveLength(hasRoom ? 0 : 1);
    await checkAll();
    await put(500, 700);
    await checkAll();
  });

  it("is met by searches, writes and snapshots with nothing but right answers", async () => {
    for (let round = 0; round < 6; round++) {
      await remove(round * 200, round * 200 + 200);
      const query = randomVector();
      const right = expected(query);
      const searches = Array.from({ length: 4 }, () => search(query));
      const made = [shard.makeRoom(FULL), shard.makeRoom(FULL)];
      for (let turn = 0; turn < 5; turn++) {
        searches.push(search(query));
        await new Promise((resolve) => setImmediate(resolve));
      }
      for (const found of await Promise.all(searches)) expect(found).toEqual(right);
      const writing = put(3_000 + round * 50, 3_050 + round * 50);
      const snapshot = shard.snapshot();
      await Promise.all([...made, writing, snapshot]);
      await checkAll();
    }
    expect(shard.statistics().vectors?.deadRows).toBe(0);
    expect(under.events.filter(({ type }) => /Failed|damage/.test(type))).toEqual([]);
  });

  it("is killed at any moment without a loss", async () => {
    for (let round = 0; round < 12; round++) {
      await remove(round * 60, round * 60 + 60);
      // What it still tries reaches no disk.
      const made = shard.makeRoom(FULL).catch(() => undefined);
      for (let turn = 0; turn < round; turn++) await new Promise((resolve) => setImmediate(resolve));
      const killed = shard;
      shard = await under.open({ vectorIndexes: real, limits: { snapshotChangesMin: 300, snapshotQuietMs: 5 } });
      await made;
      await Promise.resolve(killed[Symbol.asyncDispose]()).catch(() => undefined);
      await checkAll();
    }
  });

  it("fails the shard when the rows cannot be read, and does nothing without vectors", async () => {
    const empty = await ShardUnderTest.create(new MemoryStore());
    const other = await empty.open({ vectorIndexes: real });
    await other.makeRoom(FULL);
    await other.putObjects([book(idOf(1), [1, 2]), book(idOf(2), [1, 3])], "create");
    await other.deleteObject(idOf(2));
    const store = empty.store as MemoryStore;
    store.scan = () => {
      throw new Error("no more");
    };
    await expect(other.makeRoom(FULL)).rejects.toThrow("has failed: no more");
    expect(other.condition()).toMatchObject({ status: "failed" });
    await expect(other.searchByVector({ vector: Float32Array.of(1, 2), count: 1, fields: undefined })).rejects.toThrow(
      "no more",
    );
    await other[Symbol.asyncDispose]();
    await empty[Symbol.asyncDispose]();
  });

  it("waits with the rows of a store of which nobody knows what it has, and loses nothing that it kept", async () => {
    const store = new DoubtfulStore();
    const doubtful = await ShardUnderTest.create(store);
    const first = await doubtful.open({ vectorIndexes: real });
    await first.putObjects([book(idOf(1), [1, 1]), book(idOf(2), [1, 2])], "create");
    await first.deleteObject(idOf(1));
    store.failure = new Error("no space left");
    await expect(first.putObjects([book(idOf(3), [1, 3])], "create")).rejects.toThrow("no space left");
    await first.makeRoom(FULL);
    expect(doubtful.events.filter(({ type }) => /damage|Reloaded/.test(type))).toEqual([]);
    await first.snapshot().catch(() => undefined);
    store.failure = undefined;
    const second = await doubtful.open({ vectorIndexes: real });
    const found = await second.searchByVector({ vector: Float32Array.of(1, 1), count: 9, fields: undefined });
    expect(found.map(({ id }) => id)).toEqual([idOf(2), idOf(3)]);
    await second[Symbol.asyncDispose]();
    await doubtful[Symbol.asyncDispose]();
  });

  it("is ended by a shard that is closed, which the next start finds whole", async () => {
    await remove(0, 100);
    const store = under.store as MemoryStore;
    const { scan } = store;
    let chunks = 0;
    // A disk that takes a while for each chunk.
    store.scan = async function* (...call: Parameters<typeof scan>) {
      for await (const chunk of scan.apply(store, call)) {
        for (const entry of chunk) {
          // Of the reload: a snapshot cuts the journal with scans of its own.
          if (shard.statistics().vectors === undefined) chunks++;
          await new Promise((resolve) => setImmediate(resolve));
          yield [entry];
        }
      }
    };
    const made = shard.makeRoom(FULL);
    const refused = expect(made).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/is closing/),
    });
    while (chunks < 10) await new Promise((resolve) => setImmediate(resolve));
    const writing = put(3_000, 3_001).catch((error: unknown) => error);
    await new Promise((resolve) => setImmediate(resolve));
    await shard[Symbol.asyncDispose]();
    await refused;
    expect(await writing).toMatchObject({ code: "unavailable" });
    expect(chunks).toBeLessThan(100);
    store.scan = scan;
    vectors.delete(3_000);
    expect(under.events.filter(({ type }) => /Failed/.test(type))).toEqual([]);
    shard = await under.open({ vectorIndexes: real });
    await checkAll();
  });

  it("ends a search that waits for it when nobody wants its answer any more", async () => {
    await remove(0, 100);
    const made = shard.makeRoom(FULL);
    const stopped = new AbortController();
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    const waiting = shard.searchByVector(
      { vector: randomVector(), count: 1, fields: undefined },
      { signal: stopped.signal },
    );
    stopped.abort(new Error("left"));
    await Promise.allSettled([waiting]);
    await made;
    await checkAll();
  });
});
