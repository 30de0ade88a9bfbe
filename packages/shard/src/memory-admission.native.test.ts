import { createInvertedIndex, IndexMemory } from "@shoal/inverted-index";
import { MemoryStore } from "@shoal/kv/testing/memory-store";
import type { ObjectMerge, ShoalError } from "@shoal/model";
import { MemoryBudget } from "@shoal/runtime";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkRoomForShards } from "./memory-admission.js";
import type { Shard } from "./shard.js";
import { ALL_FIELDS, book, idOf, propertiesOf, ShardUnderTest } from "./testing/shard-under-test-suite.js";

const MIB = 1024 * 1024;
const MAX = 100 * MIB;

const merge = (index: number, vector?: readonly number[]): ObjectMerge => ({
  id: idOf(index),
  set: { n: 7 },
  clear: [],
  append: {},
  remove: {},
  vector: vector === undefined ? undefined : Float32Array.from(vector),
});

describe("a shard and the memory budget", () => {
  let used = 0;
  let now = 0;
  let budget: MemoryBudget;
  let under: ShardUnderTest;
  let shard: Shard;
  beforeEach(async () => {
    used = 0;
    budget = new MemoryBudget({
      bytesMax: MAX,
      usedBytes: () => used,
      reclaim: async () => 0,
      nowMs: () => (now += 1_000),
    });
    under = await ShardUnderTest.create(new MemoryStore(), (site) =>
      createInvertedIndex({ ...site, memory: new IndexMemory(1 << 20) }),
    );
    shard = await under.open({ memory: budget });
    await shard.putObjects([book(idOf(1), [1, 1], { n: 1 }), book(idOf(2), undefined, { n: 1 })], "create");
  });
  afterEach(async () => {
    await shard[Symbol.asyncDispose]();
    await under[Symbol.asyncDispose]();
  });

  const at = async (part: number): Promise<void> => {
    used = MAX * part;
    budget.look();
    await new Promise((resolve) => setImmediate(resolve));
  };
  const full = {
    code: "overloaded",
    retryAfterSeconds: 10,
    message:
      "shard 's1' of class 'Book' takes no new objects and vectors: 91 of the 100 MiB of the memory budget " +
      "(MEMORY_BUDGET_BYTES) are used, 91 %; delete objects or classes, or give it more memory",
  };
  const readOnly = {
    code: "overloaded",
    retryAfterSeconds: 30,
    message:
      "shard 's1' of class 'Book' is read-only but for deletions: 98 of the 100 MiB of the memory budget " +
      "(MEMORY_BUDGET_BYTES) are used, 98 %; delete objects or classes, or give it more memory",
  };

  it("takes everything below 90 %", async () => {
    await at(0.89);
    await shard.putObjects([book(idOf(3), [1, 2])], "create");
    await shard.mergeObject(merge(1, [2, 1]));
    expect(shard.condition()).toMatchObject({ status: "ready", reason: undefined });
    expect(budget.refusals).toEqual({ full: 0, exhausted: 0 });
  });

  it("refuses from 90 % on what adds objects or vectors, and no other change", async () => {
    await at(0.91);
    for (const mode of ["create", "upsert", "replace"] as const) {
      await expect(shard.putObjects([book(idOf(1), [1, 3])], mode)).rejects.toMatchObject(full);
    }
    await expect(shard.putObjects([book(idOf(4), undefined)], "upsert")).rejects.toMatchObject(full);
    await expect(shard.mergeObject(merge(1, [1, 3]))).rejects.toMatchObject(full);
    await expect(shard.mergeObjects([merge(2), merge(1, [1, 3])])).rejects.toMatchObject(full);
    expect(budget.refusals).toEqual({ full: 6, exhausted: 0 });
    expect(shard.condition()).toMatchObject({ status: "ready" });

    await shard.mergeObject(merge(1));
    await shard.mergeObjects([merge(2)]);
    await shard.putObjects([book(idOf(2), undefined, { n: 9 })], "replace");
    const [one, two] = await shard.getObjects([idOf(1), idOf(2)], ALL_FIELDS);
    expect([propertiesOf(one), propertiesOf(two)]).toEqual([{ n: 7 }, { n: 9 }]);
    expect([...(one?.vector ?? [])]).toEqual([1, 1]);
  });

  it("is read-only from 97 % on but for deletions, and says why", async () => {
    await at(0.98);
    await expect(shard.putObjects([book(idOf(1), [1, 3])], "upsert")).rejects.toMatchObject(readOnly);
    await expect(shard.putObjects([book(idOf(2), undefined)], "replace")).rejects.toMatchObject(readOnly);
    await expect(shard.mergeObject(merge(1))).rejects.toMatchObject(readOnly);
    await expect(shard.mergeObjects([merge(1)])).rejects.toMatchObject(readOnly);
    expect(shard.condition()).toEqual({ objectCount: 2, status: "readOnly", reason: readOnly.message });
    expect(await shard.searchByVector({ vector: Float32Array.of(1, 1), count: 9, fields: undefined })).toHaveLength(1);
    expect(await shard.deleteObject(idOf(1))).toBe(true);
    await at(0.92);
    expect(shard.condition()).toEqual({ objectCount: 1, status: "ready", reason: undefined });
    await expect(shard.putObjects([book(idOf(1), [1, 3])], "upsert")).rejects.toMatchObject({ code: "overloaded" });
    await at(0.84);
    await shard.putObjects([book(idOf(1), [1, 3])], "upsert");
  });

  it("lets shards be made as long as there is room for them", async () => {
    await at(0.8);
    expect(() => checkRoomForShards(budget, 15)).not.toThrow();
    const refused = (message: RegExp, retryAfterSeconds: number) =>
      expect.objectContaining({ code: "overloaded", message: expect.stringMatching(message), retryAfterSeconds });
    expect(() => checkRoomForShards(budget, 25)).toThrow(
      refused(/^no class can be made now: 80 of the 100 MiB .*MEMORY_/, 10),
    );
    await at(0.98);
    expect(() => checkRoomForShards(budget, 1)).toThrow(refused(/98 of the 100 MiB .*MEMORY_BUDGET_BYTES/, 30));
    await at(0.84);
    expect(() => checkRoomForShards(budget, 1)).not.toThrow();
    expect(budget.refusals).toEqual({ full: 1, exhausted: 1 });
  });

  it("does not admit together what each of them alone would find room for", async () => {
    await at(0.8);
    const dimensions = 60_000;
    const vector = new Array<number>(dimensions).fill(1);
    const others = Array.from({ length: 60 }, (_, at) =>
      shard.putObjects([book(idOf(100 + at), vector)], "create").then(
        () => "stored",
        (error: ShoalError) => error.code,
      ),
    );
    const outcomes = await Promise.all(others);
    // 10 MiB are left, and each takes twice its 240,000 bytes for a while.
    const letIn = outcomes.filter((one) => one === "stored").length;
    expect(letIn).toBeGreaterThan(15);
    expect(letIn).toBeLessThan(24);
    expect(new Set(outcomes)).toEqual(new Set(["stored", "overloaded"]));
    expect(budget.underWayBytes).toBe(0);
  });

  it("refuses what its long texts would take to index, alone and together, and no deletion", async () => {
    const words = (from: number, count: number) =>
      Array.from({ length: count }, (_, word) => `w${from + word}`).join(" ");
    await at(0.5);
    const put = (index: number, title: string) => shard.putObjects([book(idOf(index), undefined, { title })], "create");
    // 1 MB.
    await expect(put(5, words(0, 130_000))).rejects.toMatchObject({
      code: "overloaded",
      retryAfterSeconds: 10,
      message: expect.stringMatching(
        /^shard 's1' of class 'Book' has no room for a write, indexing its long values takes up to \d\d MiB: 50 of the 100 MiB of/,
      ),
    });
    // 0.3 MB each: 15 MiB to index, and 40 are left.
    const texts = Array.from({ length: 6 }, (_, index) => words(index * 50_000, 43_000));
    const outcomes = await Promise.allSettled(texts.map((text, index) => put(10 + index, text)));
    expect(outcomes.filter(({ status }) => status === "fulfilled").length).toBeGreaterThan(0);
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "overloaded" });
    }
    expect(budget.underWayBytes).toBe(0);
    await at(0.89);
    for (const [index, { status }] of outcomes.entries()) {
      if (status === "fulfilled") expect(await shard.deleteObject(idOf(10 + index))).toBe(true);
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(budget.underWayBytes).toBe(0);
  });

  it("says of what never fits that it is too large, not that it may be tried again", async () => {
    const title = Array.from({ length: 260_000 }, (_, word) => `w${word}`).join(" ");
    await expect(shard.putObjects([book(idOf(5), undefined, { title })], "create")).rejects.toMatchObject({
      code: "tooLarge",
      message: expect.stringMatching(
        /^shard 's1' of class 'Book' never has room for such a write: indexing its long values takes up to \d+ MiB of a memory budget of 100 MiB \(MEMORY_BUDGET_BYTES\); send fewer/,
      ),
    });
    const many = new Array(95_000).fill(book(idOf(100), [1, 1]));
    await expect(shard.putObjects(many, "create")).rejects.toMatchObject({ code: "tooLarge" });
    expect(() => checkRoomForShards(budget, 200)).toThrow(
      expect.objectContaining({ code: "invalid", message: expect.stringContaining("200 shards take 100 MiB") }),
    );
    expect(shard.condition()).toMatchObject({ objectCount: 2, status: "ready" });
  });

  it("lets a long text of few different words in", async () => {
    await at(0.5);
    const title = "one of few words ".repeat(60_000);
    await shard.putObjects([book(idOf(5), undefined, { title })], "create");
    await expect.poll(() => budget.underWayBytes).toBe(0);
  });

  it("takes one of very many references away, and properties, however little is left", async () => {
    const references = Array.from({ length: 30_000 }, (_, index) => ({
      beacon: `weaviate://localhost/${idOf(index)}`,
    }));
    await shard.putObjects([book(idOf(5), undefined, { refs: references, title: "a", n: 1 })], "create");
    const taking = (taken: Partial<ObjectMerge>) =>
      shard.mergeObjects([{ ...merge(5), set: {}, ...taken }]).then(([outcome]) => outcome);
    await at(0.89);
    expect(await taking({ remove: { refs: [idOf(7)] } })).not.toBeInstanceOf(Error);
    await at(0.98);
    expect(await taking({ remove: { refs: [idOf(8)] } })).not.toBeInstanceOf(Error);
    expect(await taking({ clear: ["title"] })).not.toBeInstanceOf(Error);
    await expect(taking({ set: { n: 2 } })).rejects.toMatchObject({ code: "overloaded" });
    const { refs } = propertiesOf((await shard.getObjects([idOf(5)], ALL_FIELDS))[0]) as { refs: unknown[] };
    expect(refs).toHaveLength(29_998);
    await expect.poll(() => budget.underWayBytes).toBe(0);
  });

  it("starts and is read however little is left", async () => {
    await at(1.5);
    await shard[Symbol.asyncDispose]();
    shard = await under.open({ memory: budget });
    expect(shard.condition()).toMatchObject({ objectCount: 2, status: "readOnly" });
    expect(propertiesOf((await shard.getObjects([idOf(1)], ALL_FIELDS))[0])).toEqual({ n: 1 });
  });
});
