import { writeFile } from "node:fs/promises";
import { MemoryStore } from "@shoal/kv/testing/memory-store";
import type { ShoalError } from "@shoal/model";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { encodeFormatRecord } from "./format-record.js";
import { FORMAT_KEY, rowKey } from "./key-layout.js";
import type { Shard } from "./shard.js";
import { book, idOf, ShardUnderTest } from "./testing/shard-under-test-suite.js";

let store: MemoryStore;
let under: ShardUnderTest;
beforeEach(async () => {
  store = new MemoryStore();
  under = await ShardUnderTest.create(store);
});
afterEach(() => under[Symbol.asyncDispose]());

describe("what a shard refuses to open", () => {
  const refusal = (promise: Promise<Shard>) =>
    promise.then(
      () => undefined,
      (error: ShoalError) => error,
    );

  it("a newer one is refused by name", async () => {
    const newer = Buffer.from(encodeFormatRecord(undefined));
    newer.writeUInt32LE(4, 8);
    await store.write([{ type: "put", key: FORMAT_KEY, value: newer }]);
    const error = await refusal(under.open());
    expect(error?.code).toBe("unavailable");
    expect(error?.message).toMatch(/shard 's1' of class 'Book' was written in data format 4 by a newer release/);
  });

  it("data without a format record is not taken for a shard", async () => {
    await store.write([{ type: "put", key: rowKey(idOf(1)), value: Uint8Array.of(1) }]);
    expect((await refusal(under.open()))?.code).toBe("dataLoss");
  });

  it("other dimensions and a stale epoch are refused", async () => {
    const shard = await under.open({ epoch: 5 });
    await shard.putObjects([book(idOf(1), [1, 1])], "create");
    expect((await refusal(under.open({ dimensions: 3, epoch: 5 })))?.code).toBe("conflict");
    expect((await refusal(under.open({ dimensions: 2, epoch: 4 })))?.code).toBe("conflict");
    expect((await under.open({ epoch: 6 })).dimensions).toBe(2);
  });

  it("dimensions that the class has are checked before the first vector", async () => {
    const shard = await under.open({ dimensions: 3 });
    const [refused] = await shard.putObjects([book(idOf(1), [1, 2])], "create");
    expect(refused).toMatchObject({ code: "invalid", message: expect.stringContaining("2 vs 3") });
  });
});

describe("a shard whose store is still being opened", () => {
  const DIMENSIONS = 2;
  /** Reopens the shard on `store`, which is there when the snapshots have been read, or not before. */
  const reopen = async (opening: (loaded: Promise<void>) => Promise<MemoryStore>, dimensions = DIMENSIONS) => {
    let tellLoaded = (): void => {};
    const loaded = new Promise<void>((resolve) => {
      tellLoaded = resolve;
    });
    const { indexes } = under;
    return under.open({
      store: opening(loaded),
      dimensions,
      vectorIndexes: {
        create: (...settings) => indexes.create(...settings),
        async load(...source) {
          const index = await indexes.load(...source).finally(() => setImmediate(tellLoaded));
          return index;
        },
      },
    });
  };
  const filled = async (): Promise<void> => {
    const shard = await under.open({ dimensions: DIMENSIONS });
    await under.fill(shard, 0, 5);
    await shard[Symbol.asyncDispose]();
  };

  it("reads its snapshots meanwhile", async () => {
    await filled();
    const shard = await reopen(async (loaded) => {
      await loaded;
      return store;
    });
    expect(under.recovered()).toMatchObject({ rebuilt: [], replayedChanges: 0 });
    await under.expectWhole(shard, [4, 3, 2, 1, 0]);
  });

  it("does not believe those that have seen more than the store", async () => {
    const before = await under.open({ dimensions: DIMENSIONS });
    await under.fill(before, 0, 3);
    const older = new MemoryStore();
    for await (const chunk of store.scan({}, () => {})) {
      await older.write(chunk.map(({ key, value }) => ({ type: "put", key, value }) as const));
    }
    await under.fill(before, 3, 5);
    await before[Symbol.asyncDispose]();
    under.store = older;
    const shard = await reopen(async (loaded) => loaded.then(() => older));
    expect(under.recovered()?.rebuilt).toEqual(["ids", "vectors"]);
    expect(under.damages()).toContain("lostChanges");
    expect(shard.statistics().vectors?.count).toBe(3);
  });

  it("tells of damaged ones, and builds them again", async () => {
    await filled();
    await under.kill();
    await writeFile(under.path("vectors.snapshot"), "no snapshot");
    const shard = await reopen(async () => store);
    expect(under.damages()).toEqual(["snapshot"]);
    expect(under.recovered()?.rebuilt).toEqual(["vectors"]);
    await under.expectWhole(shard, [4, 3, 2, 1, 0]);
  });

  it("keeps nothing of them when the store does not open, or is of other dimensions", async () => {
    await filled();
    const fault = new Error("no store");
    await expect(reopen((loaded) => loaded.then(() => Promise.reject(fault)))).rejects.toBe(fault);
    await expect(reopen(async () => store, 3)).rejects.toMatchObject({ code: "conflict" });
    await under.kill();
    expect(under.indexes.made.filter(({ disposed }) => !disposed)).toEqual([]);
  });
});
