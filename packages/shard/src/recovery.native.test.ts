import { open, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { MemoryStore } from "@shoal/kv/testing/memory-store";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { encodeFormatRecord } from "./format-record.js";
import { FORMAT_KEY, journalKey } from "./key-layout.js";
import { book, idOf, ShardUnderTest } from "./testing/shard-under-test-suite.js";

describe("recovery", () => {
  let store: MemoryStore;
  let under: ShardUnderTest;
  beforeEach(async () => {
    store = new MemoryStore();
    under = await ShardUnderTest.create(store);
  });
  afterEach(() => under[Symbol.asyncDispose]());

  const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, at) => from - at);

  it("replays everything when there is no snapshot", async () => {
    await under.fill(await under.open(), 1, 6);
    await under.expectWhole(await under.open(), down(5, 1));
    expect(under.recovered()).toMatchObject({ replayedChanges: 5, rebuilt: [], objectCount: 5, sequence: 5 });
    expect(under.damages()).toEqual([]);
  });

  describe("of a shard that was empty when its class had vectors already", () => {
    const dimensions = 2;
    it.each(["closed", "killed"])("finds its vectors after it was %s", async (how) => {
      for (let at = 0; at < 3; at++) {
        const shard = await under.open({ dimensions });
        await under.fill(shard, 1 + 3 * at, 4 + 3 * at);
        if (how === "closed") await shard[Symbol.asyncDispose]();
        await under.expectWhole(await under.open({ dimensions }), down(3 + 3 * at, 1));
        expect(under.recovered()).toMatchObject({ rebuilt: [] });
      }
    });

    it("finds those that an earlier release did not note, also when a snapshot knows only some of them", async () => {
      const shard = await under.open({ dimensions });
      await under.fill(shard, 1, 9);
      await shard[Symbol.asyncDispose]();
      const format = Buffer.from((await store.get(FORMAT_KEY)) as Uint8Array);
      // As the earlier release: without dimensions, and with an index that was begun anew.
      const unnoted = encodeFormatRecord(undefined);
      await store.write([{ type: "put", key: FORMAT_KEY, value: unnoted }]);
      const lost = await under.open({ dimensions: undefined });
      await under.fill(lost, 9, 11);
      await lost[Symbol.asyncDispose]();
      await store.write([{ type: "put", key: FORMAT_KEY, value: unnoted }]);
      const found = await under.open({ dimensions });
      await under.expectWhole(found, down(10, 1));
      expect(Buffer.from((await store.get(FORMAT_KEY)) as Uint8Array)).toEqual(format);
      await found[Symbol.asyncDispose]();
      await under.expectWhole(await under.open({ dimensions }), down(10, 1));
      expect(under.recovered()).toMatchObject({ rebuilt: [], replayedChanges: 0 });
    });
  });

  it("replays nothing after a clean close", async () => {
    const shard = await under.open();
    await under.fill(shard, 1, 6);
    await shard.deleteObject(idOf(2));
    await shard[Symbol.asyncDispose]();
    await under.expectWhole(await under.open(), [5, 4, 3, 1]);
    expect(under.recovered()).toMatchObject({ replayedChanges: 0, rebuilt: [], objectCount: 4 });
  });

  it("replays what is newer than the snapshots", async () => {
    const shard = await under.open();
    await under.fill(shard, 1, 6);
    await shard.snapshot();
    await under.fill(shard, 6, 8);
    await shard.deleteObject(idOf(3));
    under.nowUnix += 1;
    await shard.putObjects([book(idOf(1), [1, 1])], "upsert");
    await under.expectWhole(await under.open(), [1, 7, 6, 5, 4, 2]);
    expect(under.recovered()).toMatchObject({ replayedChanges: 4, rebuilt: [] });
  });

  it("writes snapshots by itself and cuts the journal", async () => {
    const limits = { snapshotChangesMin: 10, snapshotChangesFraction: 0, snapshotQuietMs: 60_000 };
    const shard = await under.open({ limits });
    await under.fill(shard, 1, 11);
    while (shard.statistics().unsnapshotChanges >= 10) await new Promise((resolve) => setTimeout(resolve, 2));
    await under.fill(shard, 11, 13);
    await under.expectWhole(await under.open({ limits }), down(12, 1));
    expect(under.recovered()).toMatchObject({ replayedChanges: 2, rebuilt: [] });
    expect(await store.get(journalKey(10))).toBeUndefined();
    expect(await store.get(journalKey(11))).toBeDefined();
  });

  it("writes a snapshot early when it is quiet", async () => {
    const shard = await under.open({
      limits: { snapshotChangesMin: 10, snapshotChangesFraction: 0, snapshotQuietMs: 5 },
    });
    await under.fill(shard, 1, 3);
    while (shard.statistics().unsnapshotChanges > 0) await new Promise((resolve) => setTimeout(resolve, 2));
    await under.expectWhole(await under.open(), [2, 1]);
    expect(under.recovered()).toMatchObject({ replayedChanges: 0 });
  });

  it("writes a snapshot of what came while one was written, when it is quiet again", async () => {
    const shard = await under.open({
      limits: { snapshotChangesMin: 10, snapshotChangesFraction: 0, snapshotQuietMs: 5 },
    });
    const write = store.write.bind(store);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let isCutting = false;
    vi.spyOn(store, "write").mockImplementation(async (changes, options) => {
      if (options?.sync === false) {
        isCutting = true;
        await held;
      }
      return write(changes, options);
    });
    await under.fill(shard, 1, 2);
    while (!isCutting) await new Promise((resolve) => setTimeout(resolve, 2));
    await under.fill(shard, 2, 3);
    // The quiet time passes while the first one is being written.
    await new Promise((resolve) => setTimeout(resolve, 50));
    release();
    while (shard.statistics().unsnapshotChanges > 0) await new Promise((resolve) => setTimeout(resolve, 2));
  });

  it("a snapshot that cannot be written is reported, and writes go on", async () => {
    const limits = { snapshotChangesMin: 2, snapshotChangesFraction: 0, snapshotQuietMs: 1 };
    const shard = await under.open({ limits });
    await rm(dirname(under.path("ids.snapshot")), { recursive: true });
    await under.fill(shard, 1, 6);
    while (!under.events.some((event) => event.type === "snapshotFailed")) {
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await under.expectWhole(shard, down(5, 1));
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
        await under.fill(shard, 1, 6);
        await shard.deleteObject(idOf(2));
        await shard[Symbol.asyncDispose]();
        const again = await under.open();
        await under.fill(again, 6, 8);
        await harm(under.path(file));
        await under.expectWhole(await under.open(), [7, 6, 5, 4, 3, 1]);
        expect(under.recovered()?.rebuilt).toEqual([file === "ids.snapshot" ? "ids" : "vectors"]);
      });
    }

    it("every flipped byte of the id table's file is noticed", async () => {
      const shard = await under.open();
      await under.fill(shard, 1, 4);
      await shard[Symbol.asyncDispose]();
      const path = under.path("ids.snapshot");
      const intact = await readFile(path);
      for (let at = 0; at < intact.length; at++) {
        const bytes = Buffer.from(intact);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
        await writeFile(path, bytes);
        const one = await under.open();
        expect(under.recovered()?.rebuilt, `byte ${at}`).toEqual(["ids"]);
        expect(await under.ids(one)).toEqual([3, 2, 1]);
      }
    });

    it("an interrupted write leaves the old file", async () => {
      const shard = await under.open();
      await under.fill(shard, 1, 4);
      await shard[Symbol.asyncDispose]();
      const file = await open(`${under.path("ids.snapshot")}.new`, "w");
      await file.writeFile("half");
      await file.close();
      await under.expectWhole(await under.open(), [3, 2, 1]);
      expect(under.recovered()?.rebuilt).toEqual([]);
    });
  });
});
