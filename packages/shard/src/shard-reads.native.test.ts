import { ShoalError } from "@shoal/model";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Shard } from "./shard.js";
import {
  ALL_FIELDS,
  book,
  INDEX_CONFIG,
  idOf,
  propertiesOf,
  ShardUnderTest,
} from "./testing/shard-under-test-suite.js";

const DAY_MS = 24 * 60 * 60 * 1_000;
const NO_MERGE = { set: {}, clear: [], append: {}, remove: {}, vector: undefined };

describe("searches and listings of a shard", () => {
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

  describe("vectors", () => {
    it("refuses another length, naming both, and stores nothing of it", async () => {
      const [first, second] = await shard.putObjects([book(idOf(1), [1, 2, 3]), book(idOf(2), [1, 2])], "create");
      expect(first).not.toBeInstanceOf(ShoalError);
      expect(second).toMatchObject({ code: "invalid" });
      expect((second as ShoalError).message).toContain("vector lengths don't match: 2 vs 3");
      expect(shard.hasObject(idOf(2))).toBe(false);
      const merge = shard.mergeObject({ ...NO_MERGE, id: idOf(1), set: { a: 1 }, vector: Float32Array.of(1) });
      await expect(merge).rejects.toThrow("vector lengths don't match: 1 vs 3");
      expect(propertiesOf(await get(1))).not.toHaveProperty("a");
      expect(shard.dimensions).toBe(3);
    });

    it.each([[Number.NaN], [Number.POSITIVE_INFINITY], [Number.NEGATIVE_INFINITY]])("refuses %f", async (value) => {
      const [refused] = await shard.putObjects([book(idOf(1), [1, value])], "create");
      expect(refused).toMatchObject({ code: "invalid" });
      const search = { vector: Float32Array.of(value, 1), count: 1, fields: undefined };
      await expect(shard.searchByVector(search)).rejects.toMatchObject({ code: "invalid" });
      expect(shard.objectCount).toBe(0);
    });

    it("refuses an empty vector and one over the limit", async () => {
      const [empty, long] = await shard.putObjects(
        [book(idOf(1), []), book(idOf(2), new Array(65_536).fill(1))],
        "create",
      );
      expect(empty).toMatchObject({ code: "invalid" });
      expect(long).toMatchObject({ code: "invalid" });
    });

    it("finds the nearest, ties by id also at the end of the page", async () => {
      const order = [7, 3, 9, 1, 5, 8, 2];
      await shard.putObjects(
        order.map((index) => book(idOf(index), [1, 0])),
        "create",
      );
      await shard.putObjects([book(idOf(99), [1, 0.1]), book(idOf(98), [0, 0])], "create");
      const search = (count: number) =>
        shard.searchByVector({ vector: Float32Array.of(2, 0), count, fields: undefined });
      expect((await search(3)).map((hit) => hit.id)).toEqual([idOf(1), idOf(2), idOf(3)]);
      const all = await search(20);
      expect(all.map((hit) => hit.id)).toEqual([...order.sort((a, b) => a - b), 99, 98].map(idOf));
      expect(all[0]?.distance).toBe(0);
      expect(all.at(-1)?.distance).toBeNaN();
    });

    it("answers with rows when asked", async () => {
      await shard.putObjects([book(idOf(1), [1, 0], { title: "a" })], "create");
      const [hit] = await shard.searchByVector({ vector: Float32Array.of(1, 0), count: 5, fields: ALL_FIELDS });
      expect(propertiesOf(hit?.object)).toEqual({ title: "a" });
      expect(hit?.object?.vector).toEqual(Float32Array.of(1, 0));
    });

    it("is empty without vectors and refuses another length otherwise", async () => {
      const search = { vector: Float32Array.of(1, 2, 3, 4), count: 1, fields: undefined };
      expect(await shard.searchByVector(search)).toEqual([]);
      await shard.putObjects([book(idOf(1), [1, 2, 3])], "create");
      await expect(shard.searchByVector(search)).rejects.toThrow("vector lengths don't match: 3 vs 4");
      expect(await shard.searchByVector({ ...search, vector: Float32Array.of(1, 2, 3), count: 0 })).toEqual([]);
    });

    it("forgets the vector of an object that has none any more", async () => {
      await shard.putObjects([book(idOf(1), [1, 0]), book(idOf(2), [0, 1])], "create");
      await shard.putObjects([book(idOf(1))], "replace");
      const hits = await shard.searchByVector({ vector: Float32Array.of(1, 0), count: 5, fields: undefined });
      expect(hits.map((hit) => hit.id)).toEqual([idOf(2)]);
      expect((await get(1))?.vector).toBeUndefined();
    });

    it("a document id is not used again while a search may still hold it", async () => {
      await shard.putObjects([book(idOf(1), [1, 0])], "create");
      let release = () => {};
      under.indexes.latest.searchGate = new Promise((resolve) => {
        release = resolve;
      });
      const searching = shard.searchByVector({ vector: Float32Array.of(1, 0), count: 1, fields: undefined });
      await shard.deleteObject(idOf(1));
      await shard.putObjects([book(idOf(2), [0, 1])], "create");
      release();
      // As of between the two writes; with the document used again it would be object 2 at distance 0.
      expect(await searching).toEqual([]);
      await shard.putObjects([book(idOf(3), [0, 1])], "create");
      expect(Math.max(...under.indexes.latest.vectors.keys())).toBe(1);
    });
  });

  it("a class that skips indexing stores vectors and refuses to search", async () => {
    const skipping = await ShardUnderTest.create();
    const other = await skipping.open({ vectorIndexConfig: { ...INDEX_CONFIG, skip: true } });
    await other.putObjects([book(idOf(1), [1, 2]), book(idOf(2))], "create");
    const search = other.searchByVector({ vector: Float32Array.of(1, 2), count: 1, fields: undefined });
    await expect(search).rejects.toMatchObject({
      code: "invalid",
      message: "cannot vector-search on a class not vector-indexed",
    });
    expect((await other.getObjects([idOf(1)], ALL_FIELDS))[0]?.vector).toEqual(Float32Array.of(1, 2));
    expect(skipping.indexes.made).toEqual([]);
    await other[Symbol.asyncDispose]();
    await skipping[Symbol.asyncDispose]();
  });

  describe("listings", () => {
    const list = async (order: "newest" | "id", limit: number, after?: number) => {
      const page = { order, after: after === undefined ? undefined : idOf(after), limit, fields: ALL_FIELDS };
      return (await shard.listObjects(page)).map((one) => Number.parseInt(one.id.slice(0, 8), 16));
    };

    it("newest first, those of one millisecond by id", async () => {
      await shard.putObjects(
        [4, 2, 6].map((index) => book(idOf(index), [1])),
        "create",
      );
      under.nowUnix += 1;
      await shard.putObjects(
        [5, 1].map((index) => book(idOf(index), [1])),
        "create",
      );
      expect(await list("newest", 10)).toEqual([1, 5, 2, 4, 6]);
      expect(await list("newest", 3)).toEqual([1, 5, 2]);
      expect(await list("newest", 0)).toEqual([]);
    });

    it("skip passes over the front of either order, ties included", async () => {
      for (let at = 0; at < 12; at += 3) {
        under.nowUnix += 1;
        await shard.putObjects(
          [at + 3, at + 1, at + 2].map((index) => book(idOf(index), [1])),
          "create",
        );
      }
      for (const order of ["newest", "id"] as const) {
        const all = await shard.listObjects({ order, after: undefined, limit: 99, fields: ALL_FIELDS });
        for (let skip = 0; skip <= 13; skip++) {
          const page = await shard.listObjects({ order, after: undefined, limit: 4, skip, fields: ALL_FIELDS });
          expect(page.map(({ id }) => id)).toEqual(all.slice(skip, skip + 4).map(({ id }) => id));
        }
      }
    });

    it("by id, after any id", async () => {
      await shard.putObjects(
        [4, 2, 6, 300].map((index) => book(idOf(index), [1])),
        "create",
      );
      expect(await list("id", 10)).toEqual([2, 4, 6, 300]);
      expect(await list("id", 2, 2)).toEqual([4, 6]);
      expect(await list("id", 2, 5)).toEqual([6, 300]);
      expect(await list("id", 2, 300)).toEqual([]);
    });

    it("refuses after with newest, and limits that are no counts", async () => {
      await expect(list("newest", 1, 1)).rejects.toMatchObject({ code: "invalid" });
      await expect(list("id", -1)).rejects.toMatchObject({ code: "invalid" });
      await expect(list("id", 1.5)).rejects.toMatchObject({ code: "invalid" });
    });

    it("F13: after a clock that was a day ahead, objects have the time of the clock, also over a restart", async () => {
      const today = under.nowUnix;
      under.nowUnix = today + DAY_MS;
      await shard.putObjects([book(idOf(1), [1])], "create");
      under.nowUnix = today;
      const timed = { creationTimeUnix: today, lastUpdateTimeUnix: today };
      expect(await shard.putObjects([book(idOf(3), [1]), book(idOf(2), [1])], "create")).toEqual([timed, timed]);
      expect(await list("newest", 3)).toEqual([1, 2, 3]);
      // Each time says when something happened: the change of an object of tomorrow was made today.
      const merge = { ...NO_MERGE, id: idOf(1), set: { title: "now" } };
      expect(await shard.mergeObject(merge)).toMatchObject({
        creationTimeUnix: today + DAY_MS,
        lastUpdateTimeUnix: today,
      });
      shard = await under.open();
      under.nowUnix = today + 5;
      await shard.putObjects([book(idOf(4), [1])], "create");
      expect(await list("newest", 4)).toEqual([1, 4, 2, 3]);
      // An object that is written again has a new creation time, and the place of that.
      await shard.putObjects([book(idOf(1), [1])], "upsert");
      expect(await list("newest", 4)).toEqual([1, 4, 2, 3]);
      under.nowUnix = today + 6;
      await shard.putObjects([book(idOf(3), [1])], "upsert");
      expect(await list("newest", 4)).toEqual([3, 1, 4, 2]);
    });
  });
});
