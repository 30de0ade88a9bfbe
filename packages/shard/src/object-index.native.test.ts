import { setImmediate } from "node:timers/promises";
import type { KeyValueChange } from "@shoal/kv";
import { MemoryStore } from "@shoal/kv/testing/memory-store";
import { type ObjectId, type ShardFilter, ShoalError } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { FORMAT_KEY, INDEX_KEY, indexRanges, rowKey } from "./key-layout.js";
import type { Shard } from "./shard.js";
import { BlockStore } from "./testing/block-store.js";
import { whenBuilt } from "./testing/check-filters-suite.js";
import {
  ALL_FIELDS,
  book,
  INDEX_CONFIG,
  INDEXES,
  idOf,
  PROPERTIES,
  ShardUnderTest,
} from "./testing/shard-under-test-suite.js";

const [, inverted] = INDEXES[0] ?? [];

const below = (n: number): ShardFilter => ({
  operator: "LessThan",
  property: "n",
  value: { kind: "int", values: [n] },
});

const ids = (...numbers: number[]) => numbers.map(idOf);

/** Keys and values of the index. */
async function indexRecords(store: MemoryStore): Promise<Uint8Array[]> {
  const keys: Uint8Array[] = [];
  for (const range of indexRanges()) {
    for await (const chunk of store.scan(range, (key) => keys.push(key))) keys.push(...chunk.map(({ key }) => key));
  }
  return keys;
}

async function fill(shard: Shard, from: number, to: number): Promise<void> {
  for (let at = from; at < to; at++) {
    await shard.putObjects([book(idOf(at), [at + 1, 1], { n: at, title: `word${at % 3}` })], "create");
  }
}

/** Takes the index away, as a shard of format 1 has none. */
async function makeFormat1(store: MemoryStore): Promise<void> {
  const format = Buffer.from((await store.get(FORMAT_KEY)) ?? []);
  format.writeUInt32LE(1, 8);
  await store.write([
    ...(await indexRecords(store)).map((key): KeyValueChange => ({ type: "del", key })),
    { type: "del", key: INDEX_KEY },
    { type: "put", key: FORMAT_KEY, value: format },
  ]);
}

/** Dies after so many writes. */
class DyingStore extends MemoryStore {
  writesLeft = Number.POSITIVE_INFINITY;

  override async write(...call: Parameters<MemoryStore["write"]>): Promise<void> {
    if (this.writesLeft <= 0) throw new ShoalError("unavailable", "no space left on device");
    this.writesLeft -= 1;
    return super.write(...call);
  }
}

describe("building the index", () => {
  it("of a shard of format 1 is restarted wherever it was interrupted", async () => {
    const store = new DyingStore();
    await using under = await ShardUnderTest.create(store, inverted);
    await fill(await under.open(), 0, 1_200);
    for (let writes = 0; ; writes++) {
      if (writes === 0) await makeFormat1(store);
      store.writesLeft = writes;
      const shard = await under.open();
      const isBuilt = under.events.some(({ type }) => type === "indexBuilt");
      if (isBuilt) {
        expect(await shard.matchingIds(below(3), 10)).toEqual(ids(0, 1, 2));
        expect(await shard.matchingIds({ operator: "Not", operands: [below(5)] }, 2_000)).toHaveLength(1_195);
        expect(writes).toBeGreaterThan(4);
        break;
      }
      await expect(shard.matchingIds(below(3), 10)).rejects.toMatchObject({
        code: "unavailable",
        retryAfterSeconds: 1,
      });
      expect(under.events.at(-1)?.type).toBe("indexFailed");
      expect(await shard.getObjects([idOf(7)], ALL_FIELDS)).toHaveLength(1);
    }
    under.events.length = 0;
    await under.open();
    expect(under.events.map(({ type }) => type)).toEqual(["recovered"]);
  });

  it("waits for room on the disk, and comes by itself", async () => {
    const store = new DyingStore();
    await using under = await ShardUnderTest.create(store, inverted);
    await fill(await under.open(), 0, 5);
    await makeFormat1(store);
    store.writesLeft = 0;
    const shard = await under.open();
    await expect(shard.putObjects([book(idOf(9), undefined, { n: 1 })], "create")).rejects.toThrow("no space");
    await expect(shard.matchingIds(below(3), 10)).rejects.toMatchObject({ code: "unavailable" });
    store.writesLeft = Number.POSITIVE_INFINITY;
    under.nowUnix += 5_000;
    await shard.putObjects([book(idOf(9), undefined, { n: 1 })], "create");
    expect(await whenBuilt(() => shard.matchingIds(below(3), 10))).toEqual(ids(0, 1, 2, 9));
  });

  it("ends with the shard", async () => {
    const store = new MemoryStore();
    await using under = await ShardUnderTest.create(store, inverted);
    await fill(await under.open(), 0, 5);
    await makeFormat1(store);
    await (await under.open())[Symbol.asyncDispose]();
    expect(await (await under.open()).matchingIds(below(2), 10)).toEqual(ids(0, 1));
  });
});

describe("a damaged index", () => {
  const flip = (envelope: Uint8Array) => {
    envelope[envelope.length - 1] = (envelope.at(-1) ?? 0) ^ 1;
  };
  const titled = (word: string): ShardFilter => ({
    operator: "Equal",
    property: "title",
    value: { kind: "text", values: [word] },
  });
  const filters = [
    below(7),
    below(20),
    titled("word0"),
    titled("word2"),
    { operator: "Not", operands: [below(7)] },
  ] as const;

  it("gives no wrong answer, whichever record it is, and is rebuilt", async () => {
    const store = new MemoryStore();
    await using under = await ShardUnderTest.create(store, inverted);
    const first = await under.open();
    await fill(first, 0, 30);
    const ask = (shard: Shard, filter: ShardFilter) => shard.matchingIds(filter, 100);
    const truth = await Promise.all(filters.map((filter) => ask(first, filter)));
    expect(truth.map((found) => found.length)).toEqual([7, 20, 10, 10, 23]);
    let refused = 0;
    for (const key of await indexRecords(store)) {
      under.events.length = 0;
      await under.kill();
      store.damage(key, flip);
      const shard = await under.open();
      for (const [at, filter] of filters.entries()) {
        const found = await ask(shard, filter).catch((error: ShoalError) => error);
        if (!(found instanceof ShoalError)) expect(found).toEqual(truth[at]);
        else {
          expect(found).toMatchObject({
            code: "dataLoss",
            message: expect.stringMatching(/shard 's1' of class 'Book'/),
          });
          refused += 1;
          expect(await whenBuilt(() => ask(shard, filter))).toEqual(truth[at]);
          expect(under.damages()).toEqual(["index"]);
        }
      }
      // Also what nobody asked for is whole again, or is met by the write that needs it.
      await shard.putObjects([book(idOf(99), undefined, { n: 99, title: "word0 word1 word2" })], "create");
      await shard.deleteObject(idOf(99));
      for (const [at, filter] of filters.entries())
        expect(await whenBuilt(() => ask(shard, filter))).toEqual(truth[at]);
    }
    // The column of `n`, and the postings of the two words.
    expect(refused).toBeGreaterThanOrEqual(3);
  });

  it("that cannot be repaired is reported, over and over, and keeps nobody from writing", async () => {
    const store = new BlockStore();
    await using under = await ShardUnderTest.create(store, inverted);
    const first = await under.open();
    await fill(first, 0, 30);
    await under.kill();
    // A block of a file that nothing is ever written above: a key that the index does not use.
    const [somewhere = Buffer.of()] = await indexRecords(store);
    store.loseBlock(Buffer.concat([somewhere.subarray(0, somewhere.length - 1), Buffer.of(0, 7)]));
    const shard = await under.open();
    for (let round = 0; round < 3; round++) {
      for (const filter of filters) {
        const found = await whenBuilt(() => shard.matchingIds(filter, 100)).catch((error: ShoalError) => error.code);
        if (found !== "dataLoss") expect(found).not.toHaveLength(0);
      }
      await shard.putObjects([book(idOf(40 + round), [1, 1], { n: 40 })], "create");
    }
    expect(under.events.filter(({ type }) => type === "indexBuilt").length).toBeLessThanOrEqual(1);
  });
});

describe("filters of a shard", () => {
  it("go with lists by id only", async () => {
    await using under = await ShardUnderTest.create();
    const listing = { after: undefined, limit: 3, filter: below(3), fields: ALL_FIELDS } as const;
    await expect((await under.open()).listObjects({ ...listing, order: "newest" })).rejects.toThrow(
      "'filter' goes with the order of ids only",
    );
  });

  it("fail with the reason of their signal", async () => {
    await using under = await ShardUnderTest.create();
    const shard = await under.open();
    await fill(shard, 0, 3);
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(shard.matchingIds(below(3), 10, { signal })).rejects.toThrow("enough");
  });

  it("never take a document for its former object", async () => {
    await using under = await ShardUnderTest.create();
    const shard = await under.open();
    await fill(shard, 0, 3);
    const index = under.inverted;
    if (index === undefined) throw new Error("no index was made");
    const questions: readonly (() => Promise<readonly (ObjectId | { readonly id: ObjectId })[]>)[] = [
      () => shard.matchingIds(below(3), 10),
      () => shard.listObjects({ order: "id", after: undefined, limit: 9, filter: below(3), fields: ALL_FIELDS }),
      () => shard.searchByVector({ vector: Float32Array.of(1, 1), count: 9, fields: undefined, filter: below(3) }),
    ];
    for (const ask of questions) {
      let open = () => {};
      index.matchingGate = new Promise((resolve) => {
        open = resolve;
      });
      const asked = ask();
      await setImmediate();
      await shard.deleteObject(idOf(1));
      for (let at = 50; at < 55; at++) await shard.putObjects([book(idOf(at), [1, 1], { n: 99 })], "create");
      open();
      index.matchingGate = undefined;
      expect((await asked).map((one) => (typeof one === "string" ? one : one.id)).sort()).toEqual(ids(0, 2));
      for (let at = 50; at < 55; at++) await shard.deleteObject(idOf(at));
      await fill(shard, 1, 2);
    }
  });
});

describe("a property that the shard does not know yet", () => {
  it.each(INDEXES)("refuses its write alone, %s", async (_name, createIndex) => {
    await using under = await ShardUnderTest.create(undefined, createIndex);
    const shard = await under.open();
    const put = (at: number, name: string) => shard.putObjects([book(idOf(at), [1, at], { [name]: 1 })], "create");
    const results = await Promise.allSettled([put(1, "n"), put(2, "later"), put(3, "n"), shard.deleteObject(idOf(1))]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
    expect(results[1]).toMatchObject({ reason: { code: "unavailable", retryAfterSeconds: 1 } });
    expect(shard.condition()).toMatchObject({ objectCount: 1, status: "ready", reason: undefined });
    const properties = [...PROPERTIES, { name: "later", dataType: ["int"] }];
    shard.configure({ vectorIndexConfig: INDEX_CONFIG, properties });
    await put(2, "later");
    const later = { operator: "Equal", property: "later", value: { kind: "int", values: [1] } } as const;
    expect(await shard.matchingIds(later, 10)).toEqual(ids(2));
    expect(await under.store.get(rowKey(idOf(1)))).toBeUndefined();
  });
});

describe("a filter that is asked with again and again", () => {
  it.each(INDEXES)("sees every change, %s", async (_name, createIndex) => {
    await using under = await ShardUnderTest.create(undefined, createIndex);
    const shard = await under.open();
    const random = seededRandom(20_260);
    const expected = new Map<ObjectId, number>();
    const filter = below(500);
    for (let round = 0; round < 300; round++) {
      const id = idOf(random.below(40));
      const n = random.below(1_000);
      const isThere = expected.has(id);
      if (isThere && random.below(3) === 0) {
        await shard.deleteObject(id);
        expected.delete(id);
      } else if (isThere && random.below(2) === 0) {
        await shard.mergeObject({ id, set: { n }, clear: [], append: {}, remove: {}, vector: undefined });
        expected.set(id, n);
      } else {
        await shard.putObjects([book(id, [round + 1, 1], { n })], "upsert");
        expected.set(id, n);
      }
      const kept = [...expected].filter(([, value]) => value < 500).map(([one]) => one);
      for (let asked = 0; asked < 2; asked++) {
        expect(await shard.matchingIds(filter, 100)).toEqual(kept.sort());
        const search = { vector: Float32Array.of(1, 1), count: 100, fields: undefined, filter };
        expect((await shard.searchByVector(search)).map((hit) => hit.id).sort()).toEqual(kept);
      }
    }
  });
});
