import { MemoryStore } from "@shoal/kv/testing/memory-store";
import { ShoalError } from "@shoal/model";
import type { WorkBounds } from "@shoal/runtime";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Shard } from "./shard.js";
import { ALL_FIELDS, book, idOf, ShardUnderTest } from "./testing/shard-under-test-suite.js";

const MIB = 1024 * 1024;

/** Tells how many keys each multi-get has, and can be told to wait before it. */
class WatchedStore extends MemoryStore {
  readonly reads: number[] = [];
  gate: Promise<void> | undefined;

  override async getMany(keys: readonly Uint8Array[]) {
    this.reads.push(keys.length);
    await this.gate;
    return super.getMany(keys);
  }
}

describe("reads of large rows", () => {
  let store: WatchedStore;
  let under: ShardUnderTest;
  let shard: Shard;
  const open = async () => {
    shard = await under.open({ limits: { rowCacheBytesMax: 0 } });
    store.reads.length = 0;
  };
  beforeEach(async () => {
    store = new WatchedStore();
    under = await ShardUnderTest.create(store);
    await open();
  });
  afterEach(async () => {
    await shard[Symbol.asyncDispose]();
    await under[Symbol.asyncDispose]();
  });

  const write = async (count: number, bytes: number, from = 0) => {
    for (let at = from; at < from + count; at++) {
      await shard.putObjects([book(idOf(at), [at + 1, 1], { text: "x".repeat(bytes) })], "create");
    }
    store.reads.length = 0;
  };
  const list = (limit: number, bounds?: WorkBounds) =>
    shard.listObjects({ order: "id", after: undefined, limit, fields: ALL_FIELDS }, bounds);

  it("take steps of 32 MiB, and of 64 rows", async () => {
    await write(20, 4 * MIB);
    expect(await list(20)).toHaveLength(20);
    expect(Math.max(...store.reads)).toBeLessThanOrEqual(8);
    expect(store.reads.length).toBeLessThanOrEqual(4);
    await write(600, 10, 100);
    await shard.listObjects({ order: "id", after: idOf(50), limit: 600, fields: ALL_FIELDS });
    expect(store.reads.slice(-10)).toEqual([...new Array<number>(9).fill(64), 24]);
  });

  it("are one for a page of 25, also of a shard that was just opened and knows no size", async () => {
    await write(100, 10);
    await open();
    await list(25);
    await list(25);
    expect(store.reads).toEqual([25, 25]);
    await list(100);
    expect(Math.max(...store.reads)).toBeLessThanOrEqual(32 + 25);
  });

  it("learn how large rows are", async () => {
    await write(30, 4 * MIB);
    await open();
    await list(12);
    expect(store.reads).toEqual([12]);
    await list(30);
    // 12 are known, and the others are no smaller as far as anybody knows.
    expect(Math.max(...store.reads.slice(1))).toBeLessThanOrEqual(8);
  });

  it("tell rowBytes what they hold, and end with its error before the next step", async () => {
    await write(20, 4 * MIB);
    let held = 0;
    let most = 0;
    const rowBytes = {
      add(bytes: number) {
        if (held + bytes > 64 * MIB) throw new ShoalError("tooLarge", "no more");
        held += bytes;
        most = Math.max(most, held);
      },
    };
    await expect(list(20, { rowBytes })).rejects.toMatchObject({ code: "tooLarge", message: "no more" });
    expect(store.reads.reduce((sum, keys) => sum + keys, 0)).toBeLessThan(20);
    expect(most).toBeGreaterThan(24 * MIB);
    held = 0;
    const page = await list(10, { rowBytes });
    expect(held).toBe(page.reduce((sum, one) => sum + one.propertiesJson.length + (one.vector?.byteLength ?? 0), 0));
    held = 0;
    const ids = Array.from({ length: 20 }, (_, at) => idOf(at));
    await expect(shard.getObjects(ids, ALL_FIELDS, { rowBytes })).rejects.toThrow("no more");
    held = 0;
    const search = { vector: Float32Array.of(1, 1), count: 20, fields: ALL_FIELDS };
    await expect(shard.searchByVector(search, { rowBytes })).rejects.toThrow("no more");
  });

  it("end between their steps when nobody wants them any more", async () => {
    await write(20, 4 * MIB);
    const gone = new AbortController();
    let go = (): void => {};
    store.gate = new Promise((resolve) => {
      go = resolve;
    });
    const listed = list(20, { signal: gone.signal });
    const failed = expect(listed).rejects.toThrow("gone");
    await expect.poll(() => store.reads.length).toBe(1);
    gone.abort(new Error("gone"));
    go();
    await failed;
    expect(store.reads.length).toBe(1);
  });

  it("of several callers share a multi-get only up to 32 MiB; those that wait keep no small one waiting, and are not read for who has gone", async () => {
    await write(8, 4 * MIB);
    await write(1, 10, 100);
    let go = (): void => {};
    store.gate = new Promise((resolve) => {
      go = resolve;
    });
    const gone = new AbortController();
    const lists = Array.from({ length: 6 }, (_, at) => list(6, at < 2 ? {} : { signal: gone.signal }));
    const settled = Promise.allSettled(lists);
    await expect.poll(() => store.reads).toEqual([6, 6]);
    const small = shard.getObjects([idOf(100)], ALL_FIELDS);
    await expect.poll(() => store.reads).toEqual([6, 6, 1]);
    gone.abort(new Error("gone"));
    go();
    expect((await settled).map(({ status }) => status)).toEqual([
      ...Array.from({ length: 6 }, (_, at) => (at < 2 ? "fulfilled" : "rejected")),
    ]);
    expect(store.reads).toEqual([6, 6, 1]);
    expect(await small).toHaveLength(1);
  });

  it("keep no row in memory for a small part of it", async () => {
    const vector = Array.from({ length: 20_000 }, (_, at) => at);
    await shard.putObjects([book(idOf(1), vector)], "create");
    const fields = { properties: true, vector: false, extras: false };
    const [object] = await shard.getObjects([idOf(1)], fields);
    expect(object?.propertiesJson.buffer.byteLength).toBeLessThan(16 * 1024);
  });
});
