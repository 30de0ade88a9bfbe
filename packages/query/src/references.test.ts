import { type GetQuery, type ReferenceSelection, type RowFields, referenceTo } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import { QueryEngine } from "./query-engine.js";
import { follow, library, libraryRecords, plainTargets } from "./testing/library-world.js";
import type { MemoryObject } from "./testing/memory-object.js";
import { MemoryShards } from "./testing/memory-shards.js";
import { byId, context, DIMENSIONS, getQuery, limits, NOTHING, ROWS, uuid } from "./testing/memory-world.js";

function engineOf(objects: readonly MemoryObject[], shardCount: number, referencedRowsMax?: number) {
  const shards = new MemoryShards(libraryRecords(), objects, shardCount);
  const bounds = referencedRowsMax === undefined ? {} : { referencedRowsMax };
  return { shards, engine: new QueryEngine({ schema: shards, router: shards, limits, ...bounds }) };
}

const target = (className: string, references: readonly ReferenceSelection[] = [], fields: RowFields = NOTHING) => ({
  ...{ className, fields, references },
});
const select = (property: string, ...targets: ReferenceSelection["targets"]): ReferenceSelection => ({
  ...{ property, targets },
});

const SELECTIONS: readonly (readonly ReferenceSelection[])[] = [
  [select("by", target("Author"))],
  [select("by", target("Club"), target("Author"))],
  [select("like", target("Book", [select("like", target("Book", [select("like", target("Book"))]))]))],
  [
    select("by", target("Author", [select("in", target("Club")), select("wrote", target("Book"))]), target("Club")),
    select("like", target("Book", [select("by", target("Club", [select("members", target("Author"))]))])),
  ],
];

describe.each([1, 2, 5])("references over %i shards", (shardCount) => {
  const objects = library(seededRandom(40 + shardCount), 120);
  const { engine } = engineOf(objects, shardCount);
  const of = (id: string) => objects.find((one) => one.id === id && one.className === "Book");

  test.each(SELECTIONS.map((references) => ({ references })))("agree with walking them: %j", async ({ references }) => {
    const near = { vector: new Float32Array(DIMENSIONS).fill(1), certainty: undefined };
    for (const change of [{}, { nearVector: near, limit: 30 }, { limit: 200, fields: ROWS }]) {
      const query: GetQuery = getQuery({ className: "Book", references, ...change });
      const rows = await engine.get(query, context);
      const { references: _, ...plain } = query;
      expect(rows.map(({ id }) => id)).toEqual((await engine.get(plain, context)).map(({ id }) => id));
      expect(rows.length).toBeGreaterThan(20);
      for (const row of rows) {
        const book = of(row.id);
        if (book === undefined) throw new Error("no such book");
        expect(plainTargets(row.references ?? new Map())).toEqual(follow(book, references, objects));
      }
    }
  });
});

describe("reading references", () => {
  const objects = library(seededRandom(8), 120);
  const deep = SELECTIONS[3] ?? [];

  test("takes one request a level, class and shard, and reads an object once", async () => {
    const { engine, shards } = engineOf(objects, 2);
    const read = new Set<string>();
    const { getObjects } = shards.node();
    shards.node().getObjects = async (shard, ids, fields, bounds) => {
      for (const id of ids) {
        expect(read, "read already").not.toContain(`${shard.className} ${id}`);
        read.add(`${shard.className} ${id}`);
      }
      return getObjects(shard, ids, fields, bounds);
    };
    await engine.get(getQuery({ className: "Book", references: deep, limit: 3 }), context);
    // Level one: authors, clubs, books. Level two: books and clubs again. Level three: authors.
    expect(shards.calls.get("getObjects")).toBeLessThanOrEqual(2 * 6);
    expect(read.size).toBeGreaterThan(10);
  });

  test("reads what the selection needs of a class, and else only whether it is there", async () => {
    const { engine, shards } = engineOf(objects, 1);
    const asked: Record<string, RowFields> = {};
    const { getObjects } = shards.node();
    shards.node().getObjects = async (shard, ids, fields, bounds) => {
      asked[shard.className] = fields;
      return getObjects(shard, ids, fields, bounds);
    };
    const references = [
      select("by", target("Author", [select("wrote", target("Book"))]), target("Club")),
      select("like", target("Book", [], { ...NOTHING, extras: true })),
    ];
    await engine.get(getQuery({ className: "Book", references }), context);
    expect(asked).toEqual({ Author: ROWS, Club: NOTHING, Book: { ...NOTHING, extras: true } });
  });

  test("an object that is reached in several ways is one row in memory", async () => {
    const random = seededRandom(2);
    const plain = { creationTimeUnix: 1, vector: undefined };
    const author: MemoryObject = { ...plain, className: "Author", id: uuid(random), properties: {} };
    const books = Array.from({ length: 3 }, () => ({
      ...plain,
      ...{ className: "Book", id: uuid(random), properties: { by: [referenceTo(author.id, "svc")] } },
    }));
    const { engine } = engineOf([author, ...books], 2);
    const references = [select("by", target("Author"))];
    const rows = await engine.get(getQuery({ className: "Book", references }), context);
    const reached = rows.map((row) => row.references?.get("by")?.[0]);
    expect(reached[0]?.id).toBe(author.id);
    expect(new Set(reached).size).toBe(1);
  });

  test("more references than REFERENCED_ROWS_MAX are refused before they are read", async () => {
    const random = seededRandom(2);
    const plain = { creationTimeUnix: 1, vector: undefined, className: "Book" };
    const ids = Array.from({ length: 10 }, () => uuid(random));
    const like = ids.map((id) => referenceTo(id, "svc"));
    const books = ids.map((id) => ({ ...plain, id, properties: { like } }));
    const levels = (depth: number): ReferenceSelection[] =>
      depth === 0 ? [] : [select("like", target("Book", levels(depth - 1)))];
    const query = (depth: number) => getQuery({ className: "Book", references: levels(depth) });
    // 10 books that like 10 books each: 100 references on the first level, 1,000 on the second, 10,000 on the third.
    const { engine, shards } = engineOf(books, 1, 1_100);
    const rows = await engine.get(query(2), context);
    expect(rows[9]?.references?.get("like")?.[9]?.references.get("like")).toHaveLength(10);
    await expect(engineOf(books, 1, 1_099).engine.get(query(2), context)).rejects.toMatchObject({ code: "tooLarge" });
    shards.calls.clear();
    await expect(engine.get(query(30), context)).rejects.toMatchObject({
      code: "tooLarge",
      message:
        "following references: the query follows more than 1100 references " +
        "(REFERENCED_ROWS_MAX): ask for fewer rows or levels",
    });
    expect(shards.calls.get("getObjects")).toBe(1);
  });

  test("long lists are followed in steps, which a signal ends", async () => {
    const random = seededRandom(6);
    const like = Array.from({ length: 30_000 }, () => referenceTo(uuid(random), "svc"));
    const plain = { className: "Book", creationTimeUnix: 1, vector: undefined };
    const books = [1, 2, 3].map(() => ({ ...plain, id: uuid(random), properties: { like } }));
    const { engine } = engineOf(books, 1);
    const query = getQuery({ className: "Book", references: [select("like", target("Book"))] });
    let steps = 0;
    let isDone = false;
    const count = (): void => {
      steps += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    expect(await engine.get(query, context)).toHaveLength(3);
    isDone = true;
    expect(steps).toBeGreaterThan(5);
    const ended = new AbortController();
    ended.abort(new Error("ended"));
    await expect(engine.get(query, { ...context, signal: ended.signal })).rejects.toThrow("ended");
  });

  test("a shard that is down fails the query, also of a nearVector", async () => {
    const { engine, shards } = engineOf(objects, 2);
    shards.down.add("Author_s1");
    const references = [select("by", target("Author"))];
    await expect(engine.get(getQuery({ className: "Book", references }), context)).rejects.toMatchObject({
      code: "unavailable",
      message: "following references: shard s1 is down",
    });
    const nearVector = { vector: new Float32Array(DIMENSIONS).fill(1), certainty: undefined };
    const near = engine.get(getQuery({ className: "Book", references, nearVector, limit: 100 }), context);
    await expect(near).rejects.toMatchObject({
      message: "following references: shard s1 is down",
    });
  });

  test("a class that is gone from the schema has no objects", async () => {
    const { engine } = engineOf(objects, 1);
    const references = [select("by", target("Gone"), target("Author"))];
    const rows = await engine.get(getQuery({ className: "Book", references }), context);
    const authors = [select("by", target("Author"))];
    for (const { id, references: found } of rows) {
      const book = objects.filter(({ className }) => className === "Book").find((one) => one.id === id);
      expect(book && plainTargets(found ?? new Map())).toEqual(book && follow(book, authors, objects));
    }
    expect(rows.map(({ id }) => id)).toEqual(
      objects
        .filter(({ className }) => className === "Book")
        .sort(byId)
        .slice(0, 100)
        .map(({ id }) => id),
    );
  });
});
