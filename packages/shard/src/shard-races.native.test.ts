import { MemoryStore } from "@shoal/kv/testing/memory-store";
import { ShoalError } from "@shoal/model";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Shard } from "./shard.js";
import { ALL_FIELDS, book, idOf, propertiesOf, ShardUnderTest } from "./testing/shard-under-test-suite.js";

const PROPERTIES = { properties: true, vector: false, extras: false };
const QUERY = { vector: Float32Array.of(1, 1), count: 9, fields: undefined };

/** Answers late: what a call read or wrote has happened, but nobody knows yet. */
class LateStore extends MemoryStore {
  afterWrite: Promise<void> = Promise.resolve();
  afterRead: Promise<void> = Promise.resolve();
  /** Instead of a write. */
  failure: ShoalError | undefined;
  reads = 0;

  override async write(...call: Parameters<MemoryStore["write"]>): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    await super.write(...call);
    await this.afterWrite;
  }

  override async getMany(...call: Parameters<MemoryStore["getMany"]>) {
    this.reads += 1;
    const values = await super.getMany(...call);
    await this.afterRead;
    return values;
  }
}

function gate(): { closed: Promise<void>; open: () => void } {
  let open = () => {};
  const closed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { closed, open };
}

const turns = () => new Promise((resolve) => setTimeout(resolve, 10));

describe("a shard whose store answers late", () => {
  let store: LateStore;
  let under: ShardUnderTest;
  let shard: Shard;
  beforeEach(async () => {
    store = new LateStore();
    under = await ShardUnderTest.create(store);
    shard = await under.open();
    await shard.putObjects([book(idOf(1), [1, 1], { n: 1 }), book(idOf(2), [1, 2], { n: 1 })], "create");
    // Opened again, so that reads have to go to the store.
    await shard[Symbol.asyncDispose]();
    shard = await under.open();
  });
  afterEach(async () => {
    await shard[Symbol.asyncDispose]();
    await under[Symbol.asyncDispose]();
  });

  const get = async (index: number, fields = PROPERTIES) => (await shard.getObjects([idOf(index)], fields))[0];
  const listed = async (order: "id" | "newest") => {
    const page = await shard.listObjects({ order, after: undefined, limit: 9, fields: PROPERTIES });
    return page.map((one) => one.id).sort();
  };

  it("shows no row that does not satisfy the filter any more, though the index has yet to follow", async () => {
    const filter = { property: "n", operator: "LessThan", value: { kind: "int", values: [5] } } as const;
    const page = () => shard.listObjects({ order: "id", after: undefined, limit: 9, filter, fields: PROPERTIES });
    const search = () => shard.searchByVector({ ...QUERY, filter, fields: PROPERTIES });
    for (const ask of [page, search]) {
      await shard.putObjects([book(idOf(1), [1, 1], { n: 1 })], "upsert");
      await shard[Symbol.asyncDispose]();
      shard = await under.open();
      const { closed, open } = gate();
      store.afterWrite = closed;
      const writing = shard.putObjects([book(idOf(1), [1, 1], { n: 7 })], "upsert");
      await turns();
      const asking = ask();
      await turns();
      open();
      const found: readonly { readonly id: string }[] = await asking;
      expect(found.map((one) => one.id)).toEqual([idOf(2)]);
      await writing;
      store.afterWrite = Promise.resolve();
    }
  });

  it("shows nothing of a write that is not acknowledged", async () => {
    const { closed, open } = gate();
    store.afterWrite = closed;
    const writing = shard.putObjects([book(idOf(3), [1, 3])], "create");
    await turns();
    expect(shard.hasObject(idOf(3))).toBe(false);
    expect(await get(3)).toBeUndefined();
    for (const order of ["id", "newest"] as const) expect(await listed(order)).toEqual([idOf(1), idOf(2)]);
    expect(await shard.searchByVector(QUERY)).toHaveLength(2);
    expect(shard.objectCount).toBe(2);
    open();
    await writing;
    expect(await listed("id")).toContain(idOf(3));
    expect(await shard.searchByVector(QUERY)).toHaveLength(3);
  });

  it("a row that a delete under way has taken is missing, not damaged", async () => {
    const { closed, open } = gate();
    store.afterWrite = closed;
    const deleting = shard.deleteObject(idOf(1));
    await turns();
    const reading = get(1, ALL_FIELDS);
    const listing = listed("newest");
    await turns();
    open();
    expect(await deleting).toBe(true);
    expect(await reading).toBeUndefined();
    expect(await listing).toEqual([idOf(2)]);
  });

  it("a row that was read before a write does not stay in the cache after it", async () => {
    const { closed, open } = gate();
    store.afterRead = closed;
    const reading = get(1);
    await turns();
    store.afterRead = Promise.resolve();
    await shard.putObjects([book(idOf(1), [1, 1], { n: 2 })], "replace");
    open();
    expect(propertiesOf(await reading)).toEqual({ n: 1 });
    expect(propertiesOf(await get(1))).toEqual({ n: 2 });
  });

  it("a cached row is not answered after a write, and spares the store a read", async () => {
    await get(1);
    const { reads } = store;
    expect(propertiesOf(await get(1))).toEqual({ n: 1 });
    expect(store.reads).toBe(reads);
    await shard.mergeObject({ id: idOf(1), set: { n: 3 }, clear: [], append: {}, remove: {}, vector: undefined });
    expect(propertiesOf(await get(1))).toEqual({ n: 3 });
    await shard.deleteObject(idOf(1));
    await shard.putObjects([book(idOf(3), [1, 3], { n: 4 })], "create");
    expect(await get(1)).toBeUndefined();
    expect(propertiesOf(await get(3))).toEqual({ n: 4 });
  });

  it("a row that was just written is read without the store", async () => {
    await shard.putObjects([book(idOf(3), [1, 3], { n: 5 })], "create");
    await shard.putObjects([book(idOf(1), [1, 1], { n: 6 })], "upsert");
    const { reads } = store;
    expect(propertiesOf(await get(3))).toEqual({ n: 5 });
    expect(propertiesOf(await get(1))).toEqual({ n: 6 });
    expect(store.reads).toBe(reads);
  });

  it("gets of one iteration share a read", async () => {
    const { reads } = store;
    const objects = await Promise.all([get(1, ALL_FIELDS), get(2, ALL_FIELDS), get(1, ALL_FIELDS), get(9, ALL_FIELDS)]);
    expect(objects.map((object) => object?.id)).toEqual([idOf(1), idOf(2), idOf(1), undefined]);
    expect(store.reads).toBe(reads + 1);
  });

  it("a failed read fails its callers alone", async () => {
    const { closed, open } = gate();
    store.afterRead = closed.then(() => {
      throw new ShoalError("unavailable", "disk gone");
    });
    const reading = Promise.allSettled([get(1), get(2)]);
    await turns();
    open();
    for (const read of await reading) expect(read).toMatchObject({ reason: { code: "unavailable" } });
    store.afterRead = Promise.resolve();
    expect(await get(1)).toBeDefined();
  });
});

describe("a shard whose store refuses writes", () => {
  it("tells the callers, shows nothing, goes on reading, and resumes by itself", async () => {
    const store = new LateStore();
    await using under = await ShardUnderTest.create(store);
    const shard = await under.open();
    await shard.putObjects([book(idOf(1), [1, 1])], "create");
    store.failure = new ShoalError("unavailable", "no space left", { retryAfterSeconds: 2 });
    const writes = [
      shard.putObjects([book(idOf(2), [1, 2])], "create"),
      shard.deleteObject(idOf(1)),
      shard.mergeObject({ id: idOf(1), set: { a: 1 }, clear: [], append: {}, remove: {}, vector: undefined }),
    ];
    for (const write of await Promise.allSettled(writes)) {
      expect(write).toMatchObject({ status: "rejected", reason: { code: "unavailable", message: "no space left" } });
    }
    expect(shard.condition()).toEqual({ objectCount: 1, status: "readOnly", reason: "no space left" });
    expect((await shard.getObjects([idOf(1), idOf(2)], ALL_FIELDS)).map((one) => one?.id)).toEqual([
      idOf(1),
      undefined,
    ]);
    expect(await shard.searchByVector(QUERY)).toHaveLength(1);
    store.failure = undefined;
    await shard.putObjects([book(idOf(2), [1, 2])], "create");
    expect(shard.condition()).toMatchObject({ status: "ready", objectCount: 2 });
    // The document id of the refused object was not lost.
    expect([...under.indexes.latest.vectors.keys()]).toEqual([0, 1]);
    const types = under.events.map((event) => event.type);
    expect(types.filter((type) => type.startsWith("writes"))).toEqual(["writesFailed", "writesResumed"]);
    await shard[Symbol.asyncDispose]();
  });

  it("a write that is refused leaves the dimensions open", async () => {
    const store = new LateStore();
    await using under = await ShardUnderTest.create(store);
    const shard = await under.open();
    store.failure = new ShoalError("unavailable", "no space left");
    await expect(shard.putObjects([book(idOf(1), [1, 2, 3])], "create")).rejects.toThrow("no space left");
    expect(shard.dimensions).toBeUndefined();
    store.failure = undefined;
    await shard.putObjects([book(idOf(1), [1, 2])], "create");
    expect(shard.dimensions).toBe(2);
    expect(await shard.searchByVector(QUERY)).toHaveLength(1);
    await shard[Symbol.asyncDispose]();
    expect(under.indexes.made.map((index) => index.disposed)).toEqual([true, true]);
  });

  it("an index that does not follow makes the shard say so, and the next start repairs it", async () => {
    const store = new LateStore();
    await using under = await ShardUnderTest.create(store);
    const shard = await under.open();
    await shard.putObjects([book(idOf(1), [1, 1])], "create");
    under.indexes.latest.put = () => {
      throw new ShoalError("internal", "no memory for more vectors");
    };
    await expect(shard.putObjects([book(idOf(2), [1, 2])], "create")).rejects.toThrow("no memory");
    expect(shard.condition().status).toBe("failed");
    await expect(shard.deleteObject(idOf(1))).rejects.toMatchObject({ code: "unavailable" });
    await expect(shard.searchByVector(QUERY)).rejects.toMatchObject({ code: "unavailable" });
    expect((await shard.getObjects([idOf(1)], ALL_FIELDS))[0]).toBeDefined();
    await shard[Symbol.asyncDispose]();
    const again = await under.open();
    expect(await again.searchByVector(QUERY)).toHaveLength(2);
    await again[Symbol.asyncDispose]();
  });
});
