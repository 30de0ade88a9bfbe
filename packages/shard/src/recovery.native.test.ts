import { open, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { MemoryStore } from "@shoal/kv";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HEAD_KEY, journalKey, rowKey } from "./key-layout.js";
import type { Shard } from "./shard.js";
import type { ShardEvent } from "./shard-events.js";
import { ALL_FIELDS, book, idOf, propertiesOf, ShardUnderTest } from "./testing/shard-under-test-suite.js";

const flip = (envelope: Uint8Array) => {
  envelope[envelope.length - 1] = (envelope.at(-1) ?? 0) ^ 1;
};

describe("recovery", () => {
  let store: MemoryStore;
  let under: ShardUnderTest;
  beforeEach(async () => {
    store = new MemoryStore();
    under = await ShardUnderTest.create(store);
  });
  afterEach(() => under[Symbol.asyncDispose]());

  const recovered = () =>
    under.events.findLast((event): event is ShardEvent & { type: "recovered" } => event.type === "recovered");
  const fill = async (shard: Shard, from: number, to: number) => {
    for (let at = from; at < to; at++) {
      under.nowUnix += 1;
      await shard.putObjects([book(idOf(at), [at, 1])], "create");
    }
  };
  const ids = async (shard: Shard) => {
    const listed = await shard.listObjects({ order: "newest", after: undefined, limit: 100, fields: ALL_FIELDS });
    return listed.map((one) => Number.parseInt(one.id.slice(0, 8), 16));
  };
  /** Everything is found in every way, in the right order, and the next write works. */
  const expectWhole = async (shard: Shard, expected: number[]) => {
    expect(await ids(shard)).toEqual(expected);
    const search = { vector: Float32Array.of(1, 1), count: 100, fields: ALL_FIELDS };
    const hits = await shard.searchByVector(search);
    const byNumber = (a: number, b: number) => b - a;
    expect(hits.map((hit) => Number.parseInt(hit.id.slice(0, 8), 16)).sort(byNumber)).toEqual(
      [...expected].sort(byNumber),
    );
    for (const hit of hits) expect(hit.object?.vector?.[0]).toBe(Number.parseInt(hit.id.slice(0, 8), 16));
    await fill(shard, 70, 71);
    expect(await ids(shard)).toEqual([70, ...expected]);
    await shard.deleteObject(idOf(70));
  };
  const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, at) => from - at);

  it("replays everything when there is no snapshot", async () => {
    await fill(await under.open(), 1, 6);
    await expectWhole(await under.open(), down(5, 1));
    expect(recovered()).toMatchObject({ replayedChanges: 5, rebuilt: [], objectCount: 5, sequence: 5 });
    expect(under.damages()).toEqual([]);
  });

  it("replays nothing after a clean close", async () => {
    const shard = await under.open();
    await fill(shard, 1, 6);
    await shard.deleteObject(idOf(2));
    await shard[Symbol.asyncDispose]();
    await expectWhole(await under.open(), [5, 4, 3, 1]);
    expect(recovered()).toMatchObject({ replayedChanges: 0, rebuilt: [], objectCount: 4 });
  });

  it("replays what is newer than the snapshots", async () => {
    const shard = await under.open();
    await fill(shard, 1, 6);
    await shard.snapshot();
    await fill(shard, 6, 8);
    await shard.deleteObject(idOf(3));
    under.nowUnix += 1;
    await shard.putObjects([book(idOf(1), [1, 1])], "upsert");
    await expectWhole(await under.open(), [1, 7, 6, 5, 4, 2]);
    expect(recovered()).toMatchObject({ replayedChanges: 4, rebuilt: [] });
  });

  it("writes snapshots by itself and cuts the journal", async () => {
    const limits = { snapshotChangesMin: 10, snapshotChangesFraction: 0, snapshotQuietMs: 60_000 };
    const shard = await under.open({ limits });
    await fill(shard, 1, 11);
    while (shard.statistics().unsnapshotChanges >= 10) await new Promise((resolve) => setTimeout(resolve, 2));
    await fill(shard, 11, 13);
    await expectWhole(await under.open({ limits }), down(12, 1));
    expect(recovered()).toMatchObject({ replayedChanges: 2, rebuilt: [] });
    expect(await store.get(journalKey(10))).toBeUndefined();
    expect(await store.get(journalKey(11))).toBeDefined();
  });

  it("writes a snapshot early when it is quiet", async () => {
    const shard = await under.open({
      limits: { snapshotChangesMin: 10, snapshotChangesFraction: 0, snapshotQuietMs: 5 },
    });
    await fill(shard, 1, 3);
    while (shard.statistics().unsnapshotChanges > 0) await new Promise((resolve) => setTimeout(resolve, 2));
    await expectWhole(await under.open(), [2, 1]);
    expect(recovered()).toMatchObject({ replayedChanges: 0 });
  });

  it("a snapshot that cannot be written is reported, and writes go on", async () => {
    const limits = { snapshotChangesMin: 2, snapshotChangesFraction: 0, snapshotQuietMs: 1 };
    const shard = await under.open({ limits });
    await rm(dirname(under.path("ids.snapshot")), { recursive: true });
    await fill(shard, 1, 6);
    while (!under.events.some((event) => event.type === "snapshotFailed")) {
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await expectWhole(shard, down(5, 1));
    await expect(shard.snapshot()).rejects.toThrow();
  });

  describe("damaged snapshots", () => {
    const files = ["ids.snapshot", "vectors.snapshot"] as const;
    const harms: readonly [string, (path: string) => Promise<void>][] = [
      ["gone", (path) => rm(path)],
      ["empty", (path) => truncate(path, 0)],
      ["cut", async (path) => truncate(path, (await readFile(path)).length - 3)],
      ["garbage", (path) => writeFile(path, "garbage".repeat(50))],
    ];
    for (const file of files) {
      it.each(harms)(`${file}: %s`, async (_name, harm) => {
        const shard = await under.open();
        await fill(shard, 1, 6);
        await shard.deleteObject(idOf(2));
        await shard[Symbol.asyncDispose]();
        const again = await under.open();
        await fill(again, 6, 8);
        await harm(under.path(file));
        await expectWhole(await under.open(), [7, 6, 5, 4, 3, 1]);
        expect(recovered()?.rebuilt).toEqual([file === "ids.snapshot" ? "ids" : "vectors"]);
      });
    }

    it("every flipped byte of the id table's file is noticed", async () => {
      const shard = await under.open();
      await fill(shard, 1, 4);
      await shard[Symbol.asyncDispose]();
      const path = under.path("ids.snapshot");
      const intact = await readFile(path);
      for (let at = 0; at < intact.length; at++) {
        const bytes = Buffer.from(intact);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
        await writeFile(path, bytes);
        const one = await under.open();
        expect(recovered()?.rebuilt, `byte ${at}`).toEqual(["ids"]);
        expect(await ids(one)).toEqual([3, 2, 1]);
      }
    });

    it("an interrupted write leaves the old file", async () => {
      const shard = await under.open();
      await fill(shard, 1, 4);
      await shard[Symbol.asyncDispose]();
      const file = await open(`${under.path("ids.snapshot")}.tmp`, "w");
      await file.writeFile("half");
      await file.close();
      await expectWhole(await under.open(), [3, 2, 1]);
      expect(recovered()?.rebuilt).toEqual([]);
    });
  });

  describe("damaged records", () => {
    it("a row: reading it fails with its name, the rest goes on, writing heals it", async () => {
      const shard = await under.open();
      await fill(shard, 1, 4);
      store.damage(rowKey(idOf(2)), flip);
      const expectDamage = (promise: Promise<unknown>) =>
        expect(promise).rejects.toMatchObject({
          code: "dataLoss",
          message: expect.stringMatching(new RegExp(`${idOf(2)}.*s1.*Book`)),
        });
      await expectDamage(shard.getObjects([idOf(1), idOf(2)], ALL_FIELDS));
      await expectDamage(shard.listObjects({ order: "id", after: undefined, limit: 9, fields: ALL_FIELDS }));
      await expectDamage(shard.listObjects({ order: "newest", after: undefined, limit: 9, fields: ALL_FIELDS }));
      await expectDamage(shard.mergeObject({ id: idOf(2), set: {}, clear: [], append: {}, vector: undefined }));
      expect((await shard.getObjects([idOf(1)], ALL_FIELDS))[0]).toBeDefined();
      await shard.putObjects([book(idOf(2), [2, 1])], "replace");
      await expectWhole(shard, [3, 2, 1]);
    });

    it("a row met by a rebuild stays known as damaged, over the next start too", async () => {
      const shard = await under.open();
      await fill(shard, 1, 4);
      await shard[Symbol.asyncDispose]();
      store.damage(rowKey(idOf(2)), flip);
      await rm(under.path("ids.snapshot"));
      const rebuilt = await under.open();
      expect(under.damages()).toEqual(["row"]);
      const expectDamaged = async (one: Shard) => {
        expect(one.hasObject(idOf(2))).toBe(true);
        await expect(one.getObjects([idOf(2)], ALL_FIELDS)).rejects.toMatchObject({ code: "dataLoss" });
        const hits = await one.searchByVector({ vector: Float32Array.of(1, 1), count: 9, fields: ALL_FIELDS });
        expect(hits.map((hit) => hit.id).sort()).toEqual([idOf(1), idOf(3)]);
        const [taken] = await one.putObjects([book(idOf(2), [2, 1])], "create");
        expect(taken).toMatchObject({ code: "invalid" });
      };
      await expectDamaged(rebuilt);
      await expectDamaged(await reopened(rebuilt));
      const healing = await under.open();
      expect(await healing.deleteObject(idOf(2))).toBe(true);
      await expectWhole(healing, [3, 1]);
    });

    it("a row that a replay needs is left out of the index and reported", async () => {
      await fill(await under.open(), 1, 4);
      store.damage(rowKey(idOf(2)), flip);
      const shard = await under.open();
      expect(under.damages()).toEqual(["row"]);
      const hits = await shard.searchByVector({ vector: Float32Array.of(1, 1), count: 9, fields: undefined });
      expect(hits.map((hit) => hit.id).sort()).toEqual([idOf(1), idOf(3)]);
      await expect(shard.getObjects([idOf(2)], ALL_FIELDS)).rejects.toMatchObject({ code: "dataLoss" });
    });

    it("a row that is gone is damage, not a missing object", async () => {
      const shard = await under.open();
      await fill(shard, 1, 4);
      await store.write([{ type: "del", key: rowKey(idOf(2)) }]);
      await expect(shard.getObjects([idOf(2)], ALL_FIELDS)).rejects.toMatchObject({ code: "dataLoss" });
    });

    it.each([
      ["damaged", () => store.damage(journalKey(3), flip)],
      ["missing in the middle", () => store.write([{ type: "del", key: journalKey(3) }])],
      ["missing at the end", () => store.write([{ type: "del", key: journalKey(6) }])],
    ])("a journal record %s: the views are rebuilt from the rows", async (_name, harm) => {
      const shard = await under.open();
      await fill(shard, 1, 6);
      await shard.deleteObject(idOf(4));
      await harm();
      await expectWhole(await under.open(), [5, 3, 2, 1]);
      expect(recovered()?.rebuilt).toEqual(["ids", "vectors"]);
      await (await under.open())[Symbol.asyncDispose]();
      await under.open();
      expect(recovered()?.rebuilt).toEqual([]);
    });

    it("a damaged head: the views are rebuilt, and sequences go on above all that were used", async () => {
      const shard = await under.open();
      await fill(shard, 1, 4);
      await shard.deleteObject(idOf(1));
      store.damage(HEAD_KEY, flip);
      await expectWhole(await under.open(), [3, 2]);
      expect(recovered()).toMatchObject({ rebuilt: ["ids", "vectors"], sequence: 4 });
      await under.open();
      expect(recovered()?.rebuilt).toEqual([]);
    });

    it("a store that has less than the snapshots: lost objects are known as lost", async () => {
      const shard = await under.open();
      await fill(shard, 1, 4);
      const head = (await store.get(HEAD_KEY)) ?? new Uint8Array();
      await fill(shard, 4, 6);
      await shard[Symbol.asyncDispose]();
      // What a log that was cut by the recovery of the store leaves behind.
      await store.write([
        { type: "put", key: HEAD_KEY, value: head },
        ...[4, 5].map((at) => ({ type: "del", key: journalKey(at) }) as const),
        ...[4, 5].map((at) => ({ type: "del", key: rowKey(idOf(at)) }) as const),
      ]);
      const again = await under.open();
      expect(under.damages()).toEqual(["lostChanges", "row", "row"]);
      await expect(again.getObjects([idOf(4)], ALL_FIELDS)).rejects.toMatchObject({ code: "dataLoss" });
      for (const at of [4, 5]) await again.deleteObject(idOf(at));
      await expectWhole(again, [3, 2, 1]);
      await expectWhole(await under.open(), [3, 2, 1]);
      expect(under.damages()).toHaveLength(3);
    });
  });

  const reopened = async (shard: Shard) => {
    await shard[Symbol.asyncDispose]();
    const next = await under.open();
    expect(recovered()?.rebuilt).toEqual([]);
    expect(propertiesOf((await next.getObjects([idOf(1)], ALL_FIELDS))[0])).toEqual({ title: idOf(1) });
    return next;
  };
});
