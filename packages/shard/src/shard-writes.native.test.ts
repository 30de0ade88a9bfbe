import { MemoryStore } from "@shoal/kv/testing/memory-store";
import { ShoalError } from "@shoal/model";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Shard } from "./shard.js";
import {
  ALL_FIELDS,
  book,
  INDEX_CONFIG,
  idOf,
  PROPERTIES,
  propertiesOf,
  ShardUnderTest,
} from "./testing/shard-under-test-suite.js";

const NO_MERGE = { set: {}, clear: [], append: {}, remove: {}, vector: undefined };

describe("writes of a shard", () => {
  let under: ShardUnderTest;
  let shard: Shard;
  beforeEach(async () => {
    under = await ShardUnderTest.create();
    shard = await under.open();
  });
  afterEach(async () => {
    await shard[Symbol.asyncDispose]();
    await under[Symbol.asyncDispose]();
  });

  const get = async (index: number) => (await shard.getObjects([idOf(index)], ALL_FIELDS))[0];

  it("keeps what was put", async () => {
    const extras = { vectorWeights: { a: "2" } };
    const [times] = await shard.putObjects([{ ...book(idOf(1), [1, 2], { title: "ä☃" }), extras }], "create");
    expect(times).toEqual({ creationTimeUnix: under.nowUnix, lastUpdateTimeUnix: under.nowUnix });
    expect(await get(1)).toMatchObject({
      id: idOf(1),
      className: "Book",
      vector: Float32Array.of(1, 2),
      extras,
      ...times,
    });
    expect(propertiesOf(await get(1))).toEqual({ title: "ä☃" });
    expect(shard.hasObject(idOf(1))).toBe(true);
    expect(shard.objectCount).toBe(1);
  });

  it("hands out only the fields that were asked for", async () => {
    await shard.putObjects([{ ...book(idOf(1), [1, 2]), extras: { a: 1 } }], "create");
    const none = { properties: false, vector: false, extras: false };
    const [bare, missing] = await shard.getObjects([idOf(1), idOf(2)], none);
    expect(bare).toMatchObject({ vector: undefined, extras: undefined });
    expect(propertiesOf(bare)).toEqual({});
    expect(missing).toBeUndefined();
  });

  it("keeps an object without properties as {}", async () => {
    await shard.putObjects([{ ...book(idOf(1), [1]), properties: undefined }], "create");
    expect(propertiesOf(await get(1))).toEqual({});
  });

  describe("modes", () => {
    it("create refuses a taken id, in the same call too", async () => {
      const [first, second] = await shard.putObjects([book(idOf(1), [1]), book(idOf(1), [2])], "create");
      expect(first).not.toBeInstanceOf(ShoalError);
      expect(second).toMatchObject({ code: "conflict", message: `id '${idOf(1)}' already exists` });
      const [third] = await shard.putObjects([book(idOf(1), [3])], "create");
      expect(third).toMatchObject({ code: "conflict" });
      expect((await get(1))?.vector).toEqual(Float32Array.of(1));
    });

    it("replace keeps the creation time and needs the object", async () => {
      const [missing] = await shard.putObjects([book(idOf(1), [1])], "replace");
      expect(missing).toMatchObject({ code: "notFound" });
      await shard.putObjects([book(idOf(1), [1])], "create");
      const created = under.nowUnix;
      under.nowUnix += 10;
      const [times] = await shard.putObjects([book(idOf(1), [2], { other: 1 })], "replace");
      expect(times).toEqual({ creationTimeUnix: created, lastUpdateTimeUnix: created + 10 });
      expect(propertiesOf(await get(1))).toEqual({ other: 1 });
    });

    it("upsert begins a new life", async () => {
      await shard.putObjects([book(idOf(1), [1]), book(idOf(2), [1])], "upsert");
      under.nowUnix += 10;
      const [times] = await shard.putObjects([book(idOf(1), [2])], "upsert");
      expect(times).toEqual({ creationTimeUnix: under.nowUnix, lastUpdateTimeUnix: under.nowUnix });
      const listed = await shard.listObjects({ order: "newest", after: undefined, limit: 9, fields: ALL_FIELDS });
      expect(listed.map((one) => one.id)).toEqual([idOf(1), idOf(2)]);
    });

    it("of one id in a call the last stays", async () => {
      await shard.putObjects([book(idOf(1), [1]), book(idOf(2), [5]), book(idOf(1), [2])], "upsert");
      expect((await get(1))?.vector).toEqual(Float32Array.of(2));
      expect(shard.objectCount).toBe(2);
      expect(under.indexes.latest.vectors.size).toBe(2);
    });
  });

  describe("merge", () => {
    it("sets, clears, appends and keeps the rest", async () => {
      const properties = { author: "x", cited: [{ beacon: "a" }], title: "old" };
      await shard.putObjects([{ ...book(idOf(1), [1, 2], properties), extras: { e: 1 } }], "create");
      const created = under.nowUnix;
      under.nowUnix += 5;
      const merged = await shard.mergeObject({
        id: idOf(1),
        set: { title: "new", zebra: 1, Alpha: 2 },
        clear: ["author"],
        append: { cited: [{ beacon: "b" }], fresh: [{ beacon: "c" }] },
        remove: {},
        vector: undefined,
      });
      const expected =
        '{"Alpha":2,"cited":[{"beacon":"a"},{"beacon":"b"}],"fresh":[{"beacon":"c"}],"title":"new","zebra":1}';
      expect(Buffer.from(merged.propertiesJson).toString()).toBe(expected);
      expect(merged).toMatchObject({ creationTimeUnix: created, lastUpdateTimeUnix: created + 5, extras: { e: 1 } });
      expect(await get(1)).toEqual(merged);
    });

    it("touches no prototype", async () => {
      await shard.putObjects([book(idOf(1), [1], {})], "create");
      const set = JSON.parse('{"__proto__":{"polluted":1},"constructor":2}');
      const merged = await shard.mergeObject({ ...NO_MERGE, id: idOf(1), set });
      expect(Buffer.from(merged.propertiesJson).toString()).toBe('{"__proto__":{"polluted":1},"constructor":2}');
      expect(({} as { polluted?: number }).polluted).toBeUndefined();
    });

    it("leaves the index alone unless the vector changes", async () => {
      await shard.putObjects([book(idOf(1), [1, 2])], "create");
      const { latest } = under.indexes;
      const { puts } = latest;
      await shard.mergeObject({ ...NO_MERGE, id: idOf(1), set: { a: 1 } });
      await shard.putObjects([book(idOf(1), [1, 2], { b: 1 })], "replace");
      await shard.putObjects([book(idOf(1), [1, 2], { b: 1 })], "upsert");
      expect(latest.puts).toBe(puts);
      expect(latest.sequence).toBe(shard.statistics().sequence);
      await shard.mergeObject({ ...NO_MERGE, id: idOf(1), vector: Float32Array.of(3, 4) });
      expect(latest.puts).toBe(puts + 1);
      expect((await get(1))?.vector).toEqual(Float32Array.of(3, 4));
    });

    it("fails for an unknown object and stores nothing", async () => {
      await expect(shard.mergeObject({ ...NO_MERGE, id: idOf(1) })).rejects.toMatchObject({ code: "notFound" });
      expect(shard.objectCount).toBe(0);
    });
  });

  it("deletes", async () => {
    await shard.putObjects([book(idOf(1), [1]), book(idOf(2), [1])], "create");
    expect(await shard.deleteObject(idOf(1))).toBe(true);
    expect(await shard.deleteObject(idOf(1))).toBe(false);
    expect(await get(1)).toBeUndefined();
    expect(shard.hasObject(idOf(1))).toBe(false);
    expect(under.indexes.latest.vectors.size).toBe(1);
  });

  describe("many at once", () => {
    it("share commits and take effect in the order of the calls", async () => {
      const store = new CountingStore();
      const counted = await ShardUnderTest.create(store);
      const one = await counted.open();
      const before = store.writes;
      const puts = Array.from({ length: 200 }, (_, at) => one.putObjects([book(idOf(at % 10), [at])], "upsert"));
      await Promise.all(puts);
      expect(store.writes - before).toBe(1);
      const rows = await one.getObjects(
        Array.from({ length: 10 }, (_, at) => idOf(at)),
        ALL_FIELDS,
      );
      expect(rows.map((row) => row?.vector?.[0])).toEqual(Array.from({ length: 10 }, (_, at) => 190 + at));
      await one[Symbol.asyncDispose]();
      await counted[Symbol.asyncDispose]();
    });

    it("of many creates of one id one wins", async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, (_, at) => shard.putObjects([book(idOf(1), [at])], "create")),
      );
      const won = outcomes.flatMap(([outcome], at) => (outcome instanceof ShoalError ? [] : [at]));
      expect(won).toEqual([0]);
      expect((await get(1))?.vector).toEqual(Float32Array.of(0));
    });

    it("create, merge, delete and create again in one commit", async () => {
      const outcomes = await Promise.all([
        shard.putObjects([book(idOf(1), [1], { a: 1 })], "create"),
        shard.mergeObject({ ...NO_MERGE, id: idOf(1), set: { b: 2 } }),
        shard.deleteObject(idOf(1)),
        shard.deleteObject(idOf(1)),
        shard.putObjects([book(idOf(1), [9], { c: 3 })], "create"),
        shard.putObjects([book(idOf(2), [9])], "create"),
        shard.deleteObject(idOf(2)),
      ]);
      expect(propertiesOf(outcomes[1])).toEqual({ a: 1, b: 2 });
      expect([outcomes[2], outcomes[3], outcomes[6]]).toEqual([true, false, true]);
      expect(propertiesOf(await get(1))).toEqual({ c: 3 });
      expect(shard.objectCount).toBe(1);
    });
  });

  describe("limits", () => {
    it("refuses what does not fit into the queue, and takes it later", async () => {
      const small = await ShardUnderTest.create();
      const one = await small.open({ limits: { pendingObjectsMax: 3 } });
      const first = one.putObjects([book(idOf(1), [1]), book(idOf(2), [1])], "create");
      const second = one.putObjects([book(idOf(3), [1]), book(idOf(4), [1])], "create");
      await expect(second).rejects.toMatchObject({ code: "overloaded", retryAfterSeconds: 1 });
      await first;
      await one.putObjects([book(idOf(3), [1]), book(idOf(4), [1])], "create");
      expect(one.objectCount).toBe(4);
      await one[Symbol.asyncDispose]();
      await small[Symbol.asyncDispose]();
    });

    it("counts what a merge carries", async () => {
      const small = await ShardUnderTest.create();
      const one = await small.open({ limits: { pendingBytesMax: 100_000 } });
      await one.putObjects([book(idOf(1), [1])], "create");
      const merge = (text: string) => one.mergeObject({ ...NO_MERGE, id: idOf(1), set: { text } });
      const first = merge("x".repeat(60_000));
      await expect(merge("x".repeat(60_000))).rejects.toMatchObject({ code: "overloaded" });
      await first;
      await merge("x".repeat(60_000));
      await one[Symbol.asyncDispose]();
      await small[Symbol.asyncDispose]();
    });

    it("writes wait for the graph, reads and searches do not", async () => {
      await shard.putObjects([book(idOf(1), [1])], "create");
      let release = () => {};
      under.indexes.latest.unindexedGate = new Promise((resolve) => {
        release = resolve;
      });
      let done = false;
      const writing = shard.putObjects([book(idOf(2), [1])], "create").then(() => {
        done = true;
      });
      expect(await get(1)).toBeDefined();
      const search = { vector: Float32Array.of(1), count: 3, fields: undefined };
      expect(await shard.searchByVector(search)).toHaveLength(1);
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(done).toBe(false);
      expect(shard.statistics().pendingObjects).toBe(1);
      release();
      await writing;
      expect(await shard.searchByVector(search)).toHaveLength(2);
    });
  });

  it("takes new search settings and refuses those that are fixed", () => {
    shard.configure({ vectorIndexConfig: { ...INDEX_CONFIG, ef: 77 }, properties: PROPERTIES });
    for (const change of [{ skip: true }, { maxConnections: 8 }, { efConstruction: 8 }]) {
      const vectorIndexConfig = { ...INDEX_CONFIG, ...change };
      expect(() => shard.configure({ vectorIndexConfig, properties: PROPERTIES })).toThrow("immutable");
    }
  });

  it("after drain writes are refused and reads go on", async () => {
    const accepted = shard.putObjects([book(idOf(1), [1])], "create");
    await shard.drain();
    await accepted;
    await expect(shard.deleteObject(idOf(1))).rejects.toMatchObject({ code: "unavailable" });
    expect(await get(1)).toBeDefined();
  });
});

class CountingStore extends MemoryStore {
  writes = 0;

  override write(...call: Parameters<MemoryStore["write"]>): Promise<void> {
    this.writes += 1;
    return super.write(...call);
  }
}
