import { rm } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HEAD_KEY, journalKey, rowKey } from "./key-layout.js";
import type { Shard } from "./shard.js";
import { BlockStore } from "./testing/block-store.js";
import { ALL_FIELDS, book, INDEXES, idOf, propertiesOf, ShardUnderTest } from "./testing/shard-under-test-suite.js";

const QUERY = { vector: Float32Array.of(1, 1), count: 9, fields: undefined };

describe.each(INDEXES)("objects that are lost to damage, %s", (_index, createIndex) => {
  let store: BlockStore;
  let under: ShardUnderTest;
  beforeEach(async () => {
    store = new BlockStore();
    under = await ShardUnderTest.create(store, createIndex);
  });
  afterEach(() => under[Symbol.asyncDispose]());

  const list = (shard: Shard, order: "newest" | "id", limit = 9) =>
    shard.listObjects({ order, after: undefined, limit, fields: ALL_FIELDS });
  const get = async (shard: Shard, at: number) => (await shard.getObjects([idOf(at)], ALL_FIELDS))[0];
  const loss = (text: RegExp | string) => ({ code: "dataLoss", message: expect.stringMatching(text) });
  const titles = (shard: Shard, numbers: readonly number[]) =>
    Promise.all(numbers.map(async (at) => propertiesOf(await get(shard, at))));
  const titlesOf = (numbers: readonly number[]) => numbers.map((at) => ({ title: idOf(at) }));

  /** Objects 1 to 3 are in the snapshots, 4 and 5 in the journal only, 1 was deleted after the snapshots. */
  const fillAndKill = async () => {
    const first = await under.open();
    await under.fill(first, 1, 4);
    await first[Symbol.asyncDispose]();
    const second = await under.open();
    await under.fill(second, 4, 6);
    await second.deleteObject(idOf(1));
    await under.kill();
  };

  const expectUnknown = async (shard: Shard, text: RegExp) => {
    await expect(list(shard, "newest")).rejects.toMatchObject(loss(text));
    await expect(list(shard, "id", 1)).rejects.toMatchObject(loss(text));
    await expect(shard.searchByVector(QUERY)).rejects.toMatchObject(loss(text));
    expect(shard.condition()).toMatchObject({ status: "ready", reason: expect.stringMatching(text) });
    await expect(get(shard, 5)).rejects.toMatchObject(loss(idOf(5)));
    expect(await get(shard, 1)).toBeUndefined();
    expect(await titles(shard, [2, 3, 4])).toEqual(titlesOf([2, 3, 4]));
    expect(await Promise.all([1, 4, 5].map((at) => shard.hasObject(idOf(at))))).toEqual([false, true, true]);
  };

  it("a damaged journal does no harm when the snapshots have everything", async () => {
    const shard = await under.open();
    await under.fill(shard, 1, 4);
    await shard[Symbol.asyncDispose]();
    store.loseBlock(journalKey(2));
    const again = await under.open();
    expect(under.recovered()?.rebuilt).toEqual([]);
    expect(under.damages()).toEqual([]);
    await under.expectWhole(again, [3, 2, 1]);
  });

  it("a damaged journal does the table no harm when only the index needs it", async () => {
    const shard = await under.open();
    await under.fill(shard, 1, 4);
    await shard[Symbol.asyncDispose]();
    await rm(under.path("vectors.snapshot"));
    store.loseBlock(journalKey(2), rowKey(idOf(2)));
    const again = await under.open();
    expect(under.recovered()?.rebuilt).toEqual(["vectors"]);
    await expect(again.searchByVector(QUERY)).rejects.toMatchObject(loss(idOf(2)));
    await again.deleteObject(idOf(2));
    await under.expectWhole(again, [3, 1]);
  });

  it("are named by an earlier table; what was deleted since is not among them", async () => {
    await fillAndKill();
    store.loseBlock(journalKey(5), rowKey(idOf(2)));
    let shard = await under.open();
    expect(under.recovered()?.rebuilt).toEqual(["ids", "vectors"]);
    for (let start = 0; start < 2; start++) {
      await expect(shard.searchByVector(QUERY)).rejects.toMatchObject(loss(idOf(2)));
      expect(shard.condition()).toMatchObject({ objectCount: 4, reason: expect.stringContaining(idOf(2)) });
      await expect(list(shard, "newest", 1)).rejects.toMatchObject(loss(idOf(2)));
      await expect(list(shard, "id")).rejects.toMatchObject(loss(idOf(2)));
      await expect(get(shard, 2)).rejects.toMatchObject(loss(idOf(2)));
      expect(await get(shard, 1)).toBeUndefined();
      await shard[Symbol.asyncDispose]();
      shard = await under.open();
    }
    expect(await shard.deleteObject(idOf(2))).toBe(true);
    expect(shard.condition().reason).toBeUndefined();
    await under.expectWhole(shard, [5, 4, 3]);
  });

  it("a list by id works up to the first lost one", async () => {
    await fillAndKill();
    store.loseBlock(journalKey(5), rowKey(idOf(3)));
    const shard = await under.open();
    expect((await list(shard, "id", 1)).map((one) => one.id)).toEqual([idOf(2)]);
    await expect(list(shard, "id", 2)).rejects.toMatchObject(loss(idOf(3)));
  });

  it("are named by the journal when the table alone is rebuilt", async () => {
    await fillAndKill();
    await rm(under.path("ids.snapshot"));
    store.loseBlock(rowKey(idOf(5)));
    const shard = await under.open();
    expect(under.recovered()?.rebuilt).toEqual(["ids"]);
    await expect(shard.searchByVector(QUERY)).rejects.toMatchObject(loss(idOf(5)));
    expect(await shard.deleteObject(idOf(5))).toBe(true);
    await under.expectWhole(shard, [4, 3, 2]);
  });

  it("without ids: lists and searches fail over restarts, and work when all objects were written again", async () => {
    await fillAndKill();
    store.loseBlock(journalKey(5), rowKey(idOf(5)));
    let shard = await under.open();
    expect(under.events).toContainEqual({ type: "damageFound", damage: { what: "unknownRows", count: 1 } });
    for (let start = 0; start < 3; start++) {
      expect(shard.objectCount).toBe(4);
      await expectUnknown(
        shard,
        /^1 object of shard 's1' of class 'Book' lost to damage, ids unknown: .* written anew/,
      );
      if (start < 2) await shard[Symbol.asyncDispose]();
      // The second time from the rows.
      if (start === 0) await rm(under.path("ids.snapshot"));
      if (start < 2) shard = await under.open();
    }
    const numbers = [2, 3, 4, 5];
    await shard.putObjects(
      numbers.map((at) => book(idOf(at), [at, 1])),
      "upsert",
    );
    expect(shard.objectCount).toBe(4);
    await under.expectWhole(shard, numbers);
    await shard[Symbol.asyncDispose]();
    await rm(under.path("ids.snapshot"));
    await under.expectWhole(await under.open(), numbers);
  });

  it("without ids: other writes take their course and heal nothing", async () => {
    await fillAndKill();
    store.loseBlock(journalKey(5), rowKey(idOf(5)));
    const shard = await under.open();
    expect((await shard.putObjects([book(idOf(5), [5, 1])], "create"))[0]).toMatchObject(loss(idOf(5)));
    await expect(shard.deleteObject(idOf(5))).rejects.toMatchObject(loss(idOf(5)));
    const merge = { id: idOf(5), set: {}, clear: [], append: {}, remove: {}, vector: undefined };
    await expect(shard.mergeObject(merge)).rejects.toMatchObject(loss(idOf(5)));
    expect(await shard.deleteObject(idOf(1))).toBe(false);
    await under.fill(shard, 6, 8);
    expect(await shard.deleteObject(idOf(6))).toBe(true);
    await shard.putObjects([book(idOf(4), [4, 1])], "upsert");
    expect(shard.objectCount).toBe(5);
    await expectUnknown(shard, /^1 object of/);
    const again = await under.open();
    await expectUnknown(again, /^1 object of/);
    expect((await again.putObjects([book(idOf(5), [5, 1])], "replace"))[0]).toHaveProperty("creationTimeUnix");
    expect((await list(again, "id")).map((one) => one.id)).toEqual([2, 3, 4, 5, 7].map(idOf));
    expect(await again.searchByVector(QUERY)).toHaveLength(5);
  });

  it("without ids and without the head: nobody knows how many, over restarts too", async () => {
    await fillAndKill();
    store.loseBlock(HEAD_KEY, journalKey(5), rowKey(idOf(5)));
    let shard = await under.open();
    expect(under.events).toContainEqual({ type: "damageFound", damage: { what: "unknownRows", count: undefined } });
    await expectUnknown(shard, /^some objects of shard 's1' of class 'Book' .* deleted and imported anew/);
    await shard.putObjects([book(idOf(4), [4, 1])], "upsert");
    await shard[Symbol.asyncDispose]();
    shard = await under.open();
    expect(under.recovered()?.rebuilt).toEqual([]);
    await expectUnknown(shard, /^some objects of shard 's1'/);
  });

  it("a store that has less than the index's snapshot, and no table to name the lost ones: nobody knows", async () => {
    const shard = await under.open();
    await under.fill(shard, 1, 4);
    const head = (await store.get(HEAD_KEY)) ?? new Uint8Array();
    await under.fill(shard, 4, 5);
    await shard[Symbol.asyncDispose]();
    await rm(under.path("ids.snapshot"));
    await store.write([
      { type: "put", key: HEAD_KEY, value: head },
      { type: "del", key: journalKey(4) },
      { type: "del", key: rowKey(idOf(4)) },
    ]);
    const again = await under.open();
    expect(under.damages()).toEqual(["lostChanges", "unknownRows"]);
    await expect(list(again, "id")).rejects.toMatchObject(loss(/^some objects/));
  });
});
