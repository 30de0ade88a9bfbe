import { ShoalError } from "@shoal/model";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { rawIdOfRowKey } from "./key-layout.js";
import type { Shard } from "./shard.js";
import { ALL_FIELDS, book, idOf, propertiesOf, ShardUnderTest } from "./testing/shard-under-test-suite.js";

const NO_MERGE = { set: {}, clear: [], append: {}, remove: {}, vector: undefined };

describe("bytes of an object", () => {
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

  describe("are bounded, and the bounds", () => {
    const limits = { objectBytesMax: 1_000 };
    /** What a row takes beside this text: head, braces, name, quotes and a vector of one dimension. */
    const beside = 56 + '{"text":""}'.length + 4;
    const text = (bytes: number) => "x".repeat(bytes - beside);
    const tooLarge = (bytes: number) => ({
      code: "tooLarge",
      message:
        `object '${idOf(1)}' would take ${bytes} bytes with its vector, ` +
        "at most 1000 are allowed (OBJECT_BYTES_MAX)",
    });
    let one: Shard;
    beforeEach(async () => {
      await shard[Symbol.asyncDispose]();
      one = await under.open({ limits });
      shard = one;
    });

    it("are exact for puts, and nothing is stored of what is larger", async () => {
      for (const mode of ["create", "upsert"] as const) {
        const outcomes = await one.putObjects([book(idOf(1), [1], { text: text(1_001) }), book(idOf(2), [1])], mode);
        expect(outcomes).toMatchObject([tooLarge(1_001), mode === "create" ? {} : { creationTimeUnix: under.nowUnix }]);
      }
      expect(one.hasObject(idOf(1))).toBe(false);
      await one.putObjects([book(idOf(1), [1], { text: text(1_000) })], "create");
      const [replaced] = await one.putObjects([book(idOf(1), [1], { text: text(1_001) })], "replace");
      expect(replaced).toMatchObject(tooLarge(1_001));
      expect(propertiesOf(await get(1))).toEqual({ text: text(1_000) });
    });

    it("are exact for merges, alone and together", async () => {
      await one.putObjects([book(idOf(1), [1], { text: "" })], "create");
      const set = (bytes: number) => ({ ...NO_MERGE, id: idOf(1), set: { text: text(bytes) } });
      await expect(one.mergeObject(set(1_001))).rejects.toMatchObject(tooLarge(1_001));
      expect(propertiesOf(await get(1))).toEqual({ text: "" });
      const outcomes = await one.mergeObjects([set(1_000), set(1_001), set(999)]);
      expect(outcomes).toMatchObject([{ lastUpdateTimeUnix: under.nowUnix }, tooLarge(1_001), {}]);
      expect(propertiesOf(await get(1))).toEqual({ text: text(999) });
    });

    it("count references that are added", async () => {
      await one.putObjects([book(idOf(1), [1], { text: "" })], "create");
      const add = { ...NO_MERGE, id: idOf(1), append: { list: [{ beacon: `svc://localhost/${idOf(2)}` }] } };
      let added = 0;
      for (; added < 100; added++) {
        const outcome = await one.mergeObject(add).catch((error: ShoalError) => error);
        if (outcome instanceof ShoalError) {
          expect(outcome.code).toBe("tooLarge");
          break;
        }
      }
      const row = { list: Array.from({ length: added }, () => add.append.list[0]), text: "" };
      expect(propertiesOf(await get(1))).toEqual(row);
      const bytes = 56 + JSON.stringify(row).length + 4;
      expect(bytes).toBeLessThanOrEqual(1_000);
      expect(bytes + JSON.stringify(add.append.list[0]).length + 1).toBeGreaterThan(1_000);
    });

    it("leave a larger one that is stored already readable, and let it shrink but not grow", async () => {
      await one[Symbol.asyncDispose]();
      shard = await under.open();
      await shard.putObjects([book(idOf(1), [1], { more: "y".repeat(500), text: "x".repeat(2_000) })], "create");
      await shard[Symbol.asyncDispose]();
      shard = await under.open({ limits });
      const set = (length: number) => ({ ...NO_MERGE, id: idOf(1), set: { text: "x".repeat(length) } });
      expect(propertiesOf(await get(1))).toMatchObject({ text: "x".repeat(2_000) });
      await expect(shard.mergeObject(set(2_001))).rejects.toMatchObject({ code: "tooLarge" });
      await shard.mergeObject(set(1_900));
      await expect(shard.mergeObject(set(2_000))).rejects.toMatchObject({ code: "tooLarge" });
      await shard.mergeObject({ ...NO_MERGE, id: idOf(1), clear: ["more"] });
      await shard.mergeObject(set(10));
      expect(propertiesOf(await get(1))).toEqual({ text: "x".repeat(10) });
    });
  });

  /** Runs `work` and counts the iterations of the event loop that others have meanwhile. */
  async function iterationsOf(work: () => Promise<unknown>): Promise<number> {
    let iterations = 0;
    let done = false;
    const count = (): void => {
      iterations += 1;
      if (!done) setImmediate(count);
    };
    setImmediate(count);
    await work();
    done = true;
    return iterations;
  }

  it("decide in how many steps they are put", async () => {
    const put = (bytes: number) => () =>
      shard.putObjects(
        [1, 2, 3, 4, 5, 6].map((at) => book(idOf(at), [at], { text: "x".repeat(bytes) })),
        "upsert",
      );
    const small = await iterationsOf(put(10));
    expect((await iterationsOf(put(1024 * 1024))) - small).toBeGreaterThanOrEqual(5);
    for (const at of [1, 6]) expect((await get(at))?.vector).toEqual(Float32Array.of(at));
  });

  it("decide how many commits they are put in, in their order", async () => {
    const { sequence } = shard.statistics();
    const many = Array.from({ length: 30 }, (_, at) => book(idOf(at % 12), [at], { text: "x".repeat(1024 * 1024) }));
    const writes = vi.spyOn(under.store, "write");
    const outcomes = await shard.putObjects(many, "upsert");
    expect(outcomes).toHaveLength(many.length);
    for (const outcome of outcomes) expect(outcome).toMatchObject({ lastUpdateTimeUnix: under.nowUnix });
    expect(writes.mock.calls.length).toBeGreaterThanOrEqual(3);
    for (const [batch] of writes.mock.calls) {
      // The index of these tests has a copy of every object.
      const rows = batch.filter(({ key }) => rawIdOfRowKey(key) !== undefined);
      const bytes = rows.reduce((sum, change) => sum + (change.type === "put" ? change.value.length : 0), 0);
      expect(bytes).toBeLessThan(10 * 1024 * 1024);
    }
    expect(shard.statistics().sequence).toBeGreaterThan(sequence);
    // Of each id the last.
    for (let at = 0; at < 12; at++) {
      expect((await get(at))?.vector).toEqual(Float32Array.of(at + (at < 6 ? 24 : 12)));
    }
  });

  it("that fail with a later commit leave what is stored, and say which are not", async () => {
    const many = Array.from({ length: 20 }, (_, at) => book(idOf(at), [at], { text: "x".repeat(1024 * 1024) }));
    let writes = 0;
    const write = under.store.write.bind(under.store);
    vi.spyOn(under.store, "write").mockImplementation(async (...call) => {
      if (++writes > 1) throw new ShoalError("overloaded", "not now");
      return write(...call);
    });
    const outcomes = await shard.putObjects(many, "create");
    const stored = outcomes.filter((outcome) => !(outcome instanceof ShoalError)).length;
    expect(stored).toBeGreaterThan(0);
    expect(outcomes.slice(stored)).toEqual(many.slice(stored).map(() => new ShoalError("overloaded", "not now")));
    expect(shard.objectCount).toBe(stored);
  });

  it("decide in how many steps they are merged", async () => {
    const ids = [1, 2, 3, 4, 5].map(idOf);
    const large = ids.map((id) => book(id, [1], { text: "x".repeat(2 * 1024 * 1024) }));
    await shard.putObjects(large, "create");
    const merges = (n: number) => ids.map((id) => ({ ...NO_MERGE, id, set: { n } }));
    const together = await iterationsOf(() => shard.mergeObjects(merges(1)));
    const alone = await iterationsOf(() => Promise.all(merges(2).map((merge) => shard.mergeObject(merge))));
    expect(together).toBeGreaterThanOrEqual(ids.length);
    expect(alone).toBeGreaterThanOrEqual(ids.length);
    for (const at of [1, 5]) expect(propertiesOf(await get(at))).toMatchObject({ n: 2 });
  });
});
