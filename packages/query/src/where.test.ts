import {
  type FilterValue,
  type GetQuery,
  type ObjectId,
  referenceTo,
  ShoalError,
  type WhereFilter,
} from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import { QueryEngine } from "./query-engine.js";
import { library, libraryRecords, randomWhere, satisfies } from "./testing/library-world.js";
import type { MemoryObject } from "./testing/memory-object.js";
import { MemoryShards, nearest } from "./testing/memory-shards.js";
import { byId, context, DIMENSIONS, getQuery, limits, NOTHING, uuid } from "./testing/memory-world.js";

function engineOf(objects: readonly MemoryObject[], shardCount: number, options: { filterIdsMax?: number } = {}) {
  const shards = new MemoryShards(libraryRecords(), objects, shardCount);
  return { shards, engine: new QueryEngine({ schema: shards, router: shards, limits, ...options }) };
}

const books = (change: Partial<GetQuery>) => getQuery({ className: "Book", ...change });
const ann: FilterValue = { kind: "string", values: ["Ann"] };
const equal = (path: readonly string[], value: FilterValue = ann): WhereFilter => ({ operator: "Equal", path, value });

describe.each([1, 2, 5])("where over %i shards", (shardCount) => {
  const random = seededRandom(shardCount);
  const objects = library(random, 150);
  const { engine } = engineOf(objects, shardCount);
  const sorted = objects.filter(({ className }) => className === "Book").sort(byId);

  test("lists agree with a plain loop, in pages by id", async () => {
    for (let round = 0; round < 150; round++) {
      const where = randomWhere(random);
      const [limit, offset] = [random.below(40), random.below(20)];
      const rows = await engine.get(books({ where, limit, offset }), context);
      const expected = sorted.filter((book) => satisfies(where, book, objects)).slice(offset, offset + limit);
      const shown = JSON.stringify(where);
      expect(
        rows.map(({ id }) => id),
        shown,
      ).toEqual(expected.map(({ id }) => id));
    }
  });

  test("vector searches agree with a plain loop", async () => {
    for (let round = 0; round < 50; round++) {
      const where = randomWhere(random);
      const vector = Float32Array.from({ length: DIMENSIONS }, () => random.next() - 0.5);
      const nearVector = { vector, certainty: undefined };
      const rows = await engine.get(books({ where, nearVector, limit: 10, offset: 3, fields: NOTHING }), context);
      const allowed = sorted.filter((book) => satisfies(where, book, objects));
      const expected = nearest(allowed, { vector, count: 13, fields: undefined }).slice(3);
      expect(rows.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    }
  });

  test("an id at the end of a path is an object of that class, not only a beacon", async () => {
    const random = seededRandom(77 + shardCount);
    for (const value of [...objects.slice(0, 60).map(({ id }) => id), uuid(random)]) {
      for (const operator of ["Equal", "ContainsAny"] as const) {
        const where = { operator, path: ["by", "Author", "id"], value: { kind: "string", values: [value] } } as const;
        const rows = await engine.get(books({ where, limit: 100 }), context);
        const expected = sorted.filter((book) => satisfies(where, book, objects));
        expect(rows.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
      }
    }
  });
});

describe("filters over references", () => {
  const objects = library(seededRandom(9), 80);

  test("ask once for each distinct inner filter, and only the owner of an id", async () => {
    const { engine, shards } = engineOf(objects, 2);
    const path = ["like", "Book", "by", "Author", "name"];
    const where: WhereFilter = {
      operator: "Or",
      operands: [equal(path), equal(["by", "Author", "name"]), { operator: "Not", operands: [equal(path)] }],
    };
    await engine.get(books({ where }), context);
    // Two shards each: authors named Ann, books by these; the page itself is a list.
    expect(Object.fromEntries(shards.calls)).toEqual({ matchingIds: 4, listObjects: 2 });
    shards.calls.clear();
    const id: FilterValue = { kind: "string", values: [objects[0]?.id ?? ""] };
    await engine.get(books({ where: equal(["by", "Author", "id"], id) }), context);
    expect(Object.fromEntries(shards.calls)).toEqual({ getObjects: 1, listObjects: 2 });
    shards.calls.clear();
    await engine.get(books({ where: equal(["pages"], { kind: "int", values: [1] }) }), context);
    expect(Object.fromEntries(shards.calls)).toEqual({ listObjects: 2 });
  });

  test("nothing inside matches nothing outside, and everything outside of Not", async () => {
    const { engine } = engineOf(objects, 3);
    const where = equal(["like", "Book", "by", "Author", "name"], { kind: "string", values: ["Nobody"] });
    expect(await engine.get(books({ where }), context)).toEqual([]);
    const not: WhereFilter = { operator: "Not", operands: [where] };
    const count = objects.filter(({ className }) => className === "Book").length;
    expect(await engine.get(books({ where: not }), context)).toHaveLength(count);
  });

  test("targets are sorted and named once, from any number of shards", async () => {
    const { engine, shards } = engineOf(objects, 5);
    const seen: string[][] = [];
    const { listObjects } = shards.node();
    shards.node().listObjects = async (shard, listing, bounds) => {
      if (listing.filter?.operator === "RefersTo") seen.push([...listing.filter.targets]);
      return listObjects(shard, listing, bounds);
    };
    await engine.get(books({ where: equal(["by", "Author", "name"]) }), context);
    const authors = objects.filter((one) => one.className === "Author" && one.properties?.name === "Ann");
    const expected = authors.map(({ id }) => id).sort();
    expect(seen).toEqual(Array.from({ length: 5 }, () => expected));
    seen.length = 0;
    const values = [...expected, ...expected].reverse();
    const where = { operator: "ContainsAny", path: ["by", "Author", "id"], value: { kind: "string", values } } as const;
    await engine.get(books({ where }), context);
    expect(seen).toEqual(Array.from({ length: 5 }, () => expected));
  });

  test.each([1, 3])("more ids than FILTER_IDS_MAX are refused, over %i shards", async (shardCount) => {
    const authors = objects.filter((one) => one.className === "Author" && one.properties?.name === "Ann").length;
    const where = equal(["by", "Author", "name"]);
    await engineOf(objects, shardCount, { filterIdsMax: authors }).engine.get(books({ where }), context);
    const { engine } = engineOf(objects, shardCount, { filterIdsMax: authors - 1 });
    const message = `the filter on ["name"] matches more than ${authors - 1} objects of class 'Author' (FILTER_IDS_MAX)`;
    await expect(engine.get(books({ where }), context)).rejects.toMatchObject({ code: "tooLarge", message });
  });

  test("the ids count as what the answer holds", async () => {
    const { engine } = engineOf(objects, 1);
    const added: number[] = [];
    const rowBytes = { add: (bytes: number) => void added.push(bytes) };
    await engine.get(books({ where: equal(["by", "Author", "name"]) }), { ...context, rowBytes });
    const authors = objects.filter((one) => one.className === "Author" && one.properties?.name === "Ann").length;
    expect(added).toEqual([authors * 64]);
  });

  test("a class that is not there is named", async () => {
    const { engine } = engineOf(objects, 1);
    await expect(engine.get(books({ where: equal(["by", "Nope", "name"]) }), context)).rejects.toMatchObject({
      code: "invalid",
      message: "could not find class 'Nope' in the schema: create it with POST /v1/schema first",
    });
  });

  test("a failing shard fails the query with its name, and ends the other searches", async () => {
    const { engine, shards } = engineOf(objects, 2);
    shards.down.add("Author_s1");
    const where: WhereFilter = { operator: "And", operands: [equal(["by", "Author", "name"]), equal(["title"])] };
    await expect(engine.get(books({ where }), context)).rejects.toMatchObject({
      code: "unavailable",
      message: "shard 's1' of class 'Author': shard s1 is down",
    });
    const cancelled: boolean[] = [];
    const { matchingIds } = shards.node();
    shards.node().matchingIds = async (shard, filter, idsMax, bounds) => {
      if (shard.className === "Author") return matchingIds(shard, filter, idsMax, bounds);
      await new Promise((resolve) => bounds.signal?.addEventListener("abort", resolve));
      cancelled.push(true);
      return [];
    };
    const both: WhereFilter = {
      operator: "And",
      operands: [equal(["by", "Author", "name"]), equal(["by", "Club", "name"])],
    };
    await expect(engine.get(books({ where: both }), context)).rejects.toMatchObject({ code: "unavailable" });
    await new Promise((resolve) => setImmediate(resolve));
    expect(cancelled).toEqual([true, true]);
  });

  test("what a shard refuses about a filter is reported as the filter's fault", async () => {
    const { engine, shards } = engineOf(objects, 1);
    const refuse = async () => {
      throw new ShoalError("invalid", "property 'x' has no index");
    };
    Object.assign(shards.node(), { listObjects: refuse, searchByVector: refuse });
    const where = equal(["x"]);
    await expect(engine.get(books({ where }), context)).rejects.toMatchObject({
      code: "invalid",
      message: "invalid 'where' filter: property 'x' has no index",
    });
    const nearVector = { vector: new Float32Array(DIMENSIONS).fill(1), certainty: undefined };
    await expect(engine.get(books({ where, nearVector }), context)).rejects.toMatchObject({
      code: "invalid",
      message: "invalid 'where' filter: property 'x' has no index",
    });
  });

  test("what else a shard refuses about a filter with near is reported likewise", async () => {
    const { engine, shards } = engineOf(objects, 1);
    const refuse = async () => {
      throw new ShoalError("invalid", "a 'Like' pattern is too long");
    };
    Object.assign(shards.node(), { searchByVector: refuse });
    const nearVector = { vector: new Float32Array(DIMENSIONS).fill(1), certainty: undefined };
    await expect(engine.get(books({ where: equal(["x"]), nearVector }), context)).rejects.toThrow(
      "invalid 'where' filter: a 'Like' pattern is too long",
    );
  });

  test("a beacon to an object that is gone refers to nothing", async () => {
    const gone = "00000000-0000-0000-0000-00000000000f" as ObjectId;
    const book: MemoryObject = {
      ...{ className: "Book", id: uuid(seededRandom(3)), creationTimeUnix: 1, vector: undefined },
      properties: { by: [referenceTo(gone, "weaviate")] },
    };
    const { engine } = engineOf([book], 1);
    const where = equal(["by", "Author", "id"], { kind: "string", values: [gone] });
    expect(await engine.get(books({ where }), context)).toEqual([]);
  });
});
