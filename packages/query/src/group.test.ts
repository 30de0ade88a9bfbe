import { decodeProperties, type GetQuery, type Grouping, type Json, referenceTo } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import { QueryEngine } from "./query-engine.js";
import { library, libraryRecords, plainTargets } from "./testing/library-world.js";
import type { MemoryObject } from "./testing/memory-object.js";
import { MemoryShards } from "./testing/memory-shards.js";
import { context, DIMENSIONS, getQuery, limits, NOTHING, ROWS, record, uuid } from "./testing/memory-world.js";

function engineOf(objects: readonly MemoryObject[], records = libraryRecords(), shardCount = 2, comparisons = 1e6) {
  const shards = new MemoryShards(records, objects, shardCount);
  return new QueryEngine({ schema: shards, router: shards, limits, groupComparisonsMax: comparisons });
}

const books = (change: Partial<GetQuery>) => getQuery({ className: "Book", ...change });

/** Groups of places in a list, as reference-graphql 2.8 says it. */
function groupsOf(vectors: readonly (Float32Array | undefined)[], force: number): number[][] {
  const groups: number[][] = [];
  for (const [at, vector] of vectors.entries()) {
    const near = groups.find((group) => group.some((member) => half(vector, vectors[member]) < force));
    if (near === undefined) groups.push([at]);
    else near.push(at);
  }
  return groups;
}

function half(a: Float32Array | undefined, b: Float32Array | undefined): number {
  if (a === undefined || b === undefined) return Number.NaN;
  const dot = (x: Float32Array, y: Float32Array) => x.reduce((sum, number, at) => sum + number * (y[at] ?? 0), 0);
  return Math.fround(Math.max(0, 1 - dot(a, b) / (Math.sqrt(dot(a, a)) * Math.sqrt(dot(b, b)))) / 2);
}

describe("group", () => {
  const objects = library(seededRandom(21), 150).map((object, at) =>
    at % 10 === 0 ? { ...object, vector: at % 20 === 0 ? undefined : new Float32Array(DIMENSIONS) } : object,
  );
  const engine = engineOf(objects);
  const nearVector = { vector: Float32Array.of(1, 0.5, 0.2, 0.1), certainty: undefined };

  test.each([
    [0, {}],
    [0.001, {}],
    [0.1, {}],
    [0.3, { limit: 10, offset: 5 }],
    [0.3, { nearVector, limit: 30 }],
    [1, { limit: 200 }],
  ])("closest keeps the first row of each group: force %d of %o", async (force, change) => {
    const vectors = { ...NOTHING, vector: true };
    const page = await engine.get(books({ ...change, fields: vectors }), context);
    const groups = groupsOf(
      page.map(({ object }) => object?.vector),
      force,
    );
    const group: Grouping = { type: "closest", force };
    const rows = await engine.get(books({ ...change, group, fields: ROWS }), context);
    expect(rows.map(({ id }) => id)).toEqual(groups.map(([first]) => page[first ?? -1]?.id));
    expect(rows.map(({ certainty }) => certainty)).toEqual(groups.map(([first]) => page[first ?? -1]?.certainty));
    expect(rows.some(({ object }) => object?.vector !== undefined)).toBe(false);
    const merged = await engine.get(books({ ...change, group: { type: "merge", force }, fields: vectors }), context);
    expect(merged).toHaveLength(groups.length);
    for (const [at, row] of merged.entries()) {
      const members = (groups[at] ?? []).flatMap((member) => page[member]?.object?.vector ?? []);
      const mean = Array.from({ length: DIMENSIONS }, (_, i) =>
        Math.fround(members.reduce((sum, vector) => sum + (vector[i] ?? 0), 0) / members.length),
      );
      expect(row).toMatchObject({ id: "", certainty: "nearVector" in change ? 1 : undefined });
      expect(row.object?.vector && [...row.object.vector]).toEqual(members.length === 0 ? undefined : mean);
    }
  });

  test("more comparisons than there may be are refused", async () => {
    const vector = new Float32Array(DIMENSIONS).fill(1);
    const random = seededRandom(3);
    const same = Array.from({ length: 10 }, () => ({
      className: "Book",
      id: uuid(random),
      creationTimeUnix: 1,
      vector,
    }));
    const query = (force: number) => books({ group: { type: "closest", force } });
    // Nothing is nearer than 0, so that each of ten rows is compared with each: 45 times. All are nearer than 1: 9 times.
    for (const [force, count] of [
      [0, 45],
      [1, 9],
    ] as const) {
      await engineOf(same, libraryRecords(), 1, count).get(query(force), context);
      await expect(engineOf(same, libraryRecords(), 1, count - 1).get(query(force), context)).rejects.toMatchObject({
        code: "tooLarge",
        message: `group: more than ${count - 1} comparisons of rows: ask for fewer rows, or raise the force`,
      });
    }
  });

  test("the certainty minimum cuts the page before it is grouped", async () => {
    const certain = { ...nearVector, certainty: 0.8 };
    const page = await engine.get(books({ nearVector: certain, fields: { ...NOTHING, vector: true } }), context);
    const group: Grouping = { type: "merge", force: 0.05 };
    const rows = await engine.get(books({ nearVector: certain, group }), context);
    const groups = groupsOf(
      page.map(({ object }) => object?.vector),
      0.05,
    );
    expect(rows).toHaveLength(groups.length);
  });

  test("a merged row refers to what its members refer to, once each", async () => {
    const references = [
      { property: "by", targets: [{ className: "Author", fields: NOTHING, references: [] }] },
      { property: "like", targets: [{ className: "Book", fields: NOTHING, references: [] }] },
    ];
    const withVectors = objects.filter(({ vector }) => vector?.some((number) => number !== 0));
    const whole = engineOf(withVectors);
    const page = await whole.get(books({ references, limit: 500 }), context);
    const [row, ...others] = await whole.get(
      books({ references, limit: 500, group: { type: "merge", force: 2 } }),
      context,
    );
    expect(others).toEqual([]);
    for (const property of ["by", "like"]) {
      const expected = page.flatMap(({ references: found }) => found?.get(property) ?? []).map(({ id }) => id);
      expect(row?.references?.get(property)?.map(({ id }) => id)).toEqual([...new Set(expected)]);
    }
    expect(plainTargets(row?.references ?? new Map()).like?.length).toBeGreaterThan(5);
  });
});

describe("merged properties", () => {
  const types = [
    ...["string", "text", "date", "blob", "int", "number", "boolean", "geoCoordinates", "phoneNumber"],
    ...["string[]", "text[]", "int[]", "number[]", "boolean[]", "date[]"],
  ];
  const properties = types.map((type) => ({ name: `a${type.replace("[]", "s")}`, dataType: [type] }));
  const plain = record("Thing");
  const definition = {
    ...plain.definition,
    properties: [...properties, { name: "other", dataType: ["Thing"] }],
  };

  async function merged(values: readonly Readonly<Record<string, Json>>[]): Promise<unknown> {
    const random = seededRandom(1);
    const objects = values
      .map(() => uuid(random))
      .sort()
      .map((id, at) => ({
        ...{ id, className: "Thing", creationTimeUnix: 1, vector: Float32Array.of(1, 1, 1, 1) },
        properties: values[at] ?? {},
      }));
    const engine = engineOf(objects, [{ ...plain, definition }]);
    const query = getQuery({ className: "Thing", fields: ROWS, group: { type: "merge", force: 0.5 } });
    const rows = await engine.get(query, context);
    expect(rows).toHaveLength(1);
    return rows[0]?.object && decodeProperties(rows[0].object);
  }

  const [one, two] = [uuid(seededRandom(5)), uuid(seededRandom(6))];
  test.each<[string, readonly Json[], Json | undefined]>([
    ["atext", ["a"], "a"],
    ["atext", ["b", "a", "b", null, "c"], "b (a, c)"],
    ["astring", ["x y", "x y"], "x y"],
    ["adate", ["2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"], "2020-01-01T00:00:00Z (2021-01-01T00:00:00Z)"],
    ["ablob", ["aGVsbG8=", "aGVsbG8="], "aGVsbG8="],
    ["anumber", [1, 2.5, null], 1.75],
    ["anumber", [1e308, 1e308], 1e308],
    ["aint", [1, 2], 1],
    ["aint", [-1, -2], -1],
    ["aboolean", [true, false], true],
    ["aboolean", [true, false, false], false],
    [
      "ageoCoordinates",
      [
        { latitude: 10, longitude: -20 },
        { latitude: 20, longitude: 40 },
      ],
      { latitude: 15, longitude: 10 },
    ],
    [
      "ageoCoordinates",
      [
        { latitude: 52.366667, longitude: 4.9 },
        { latitude: 51.225555, longitude: 6.782778 },
        { latitude: 52.523406, longitude: -0.1 },
      ],
      // The means are 52.038542666666665 and 3.8609260000000005.
      { latitude: 52.038544, longitude: 3.860926 },
    ],
    ["aphoneNumber", [{ input: "1" }], undefined],
    ["atexts", [["a"]], undefined],
    ["aints", [[1]], undefined],
    [
      "other",
      [[referenceTo(one, "svc")], [referenceTo(two, "svc"), referenceTo(one, "weaviate")]],
      [referenceTo(one, "svc"), referenceTo(two, "svc")],
    ],
    ["atext", [null], undefined],
  ])("%s of %j is %j", async (name, values, expected) => {
    const all = values.map((value) => (value === null ? {} : { [name]: value }));
    expect(await merged(all)).toEqual(expected === undefined ? {} : { [name]: expected });
  });
});
