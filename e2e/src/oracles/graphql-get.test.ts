import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, type HttpClient, type Row } from "../http-client.js";
import { ServerProcess } from "../server-process.js";

let server: ServerProcess;
let http: HttpClient;

const id = (n: number): string => `00000000-0000-0000-0000-${String(n).padStart(12, "0")}`;

beforeAll(async () => {
  server = await ServerProcess.start({ env: { QUERY_MAXIMUM_RESULTS: "300", WIRE_PROFILE: "spec" } });
  http = server.http;
  const properties = [
    ["title", "string"],
    ["body", "text"],
    ["pages", "int"],
    ["price", "number"],
    ["sold", "boolean"],
    ["published", "date"],
    ["place", "geoCoordinates"],
    ["phone", "phoneNumber"],
    ["cover", "blob"],
    ["tags", "string[]"],
    ["counts", "int[]"],
    ["scores", "number[]"],
    ["flags", "boolean[]"],
    ["dates", "date[]"],
  ].map(([name, kind]) => ({ name, dataType: [kind] }));
  await http.post("/v1/schema", { class: "Book", properties });
  await http.post("/v1/schema", { class: "Empty" });
  await http.post("/v1/schema", { class: "Many", shardingConfig: { desiredCount: 3 } });
  const full = {
    title: "War and Peace",
    body: "Well, Prince",
    pages: 3_000_000_000,
    price: 9.5,
    sold: true,
    published: "2017-07-21T17:32:28.120+00:00",
    place: { latitude: 51.225556, longitude: 52.366667 },
    phone: { input: "+311234567" },
    cover: "aGVsbG8=",
    tags: ["a", "b"],
    counts: [1, 2],
    scores: [1.5],
    flags: [true],
    dates: ["2017-07-21T17:32:28.120+00:00"],
  };
  for (const body of [
    { class: "Book", id: id(1), properties: full, vector: [1, 0, 0] },
    { class: "Book", id: id(2), properties: { title: "Second" }, vector: [0.6, 0.8, 0] },
    { class: "Book", id: id(3), properties: { title: "Third" }, vector: [-1, 0, 0] },
  ]) {
    expect((await http.post("/v1/objects", body)).status).toBe(200);
  }
  const many = Array.from({ length: 150 }, (_, i) => ({ class: "Many", id: id(1000 + i), vector: [1, i / 100] }));
  await http.post("/v1/batch/objects", { objects: many });
});
afterAll(() => server[Symbol.asyncDispose]());

describe("properties", () => {
  // covers: graphql/2.5/text-and-blob, graphql/2.5/int, graphql/2.5/number, graphql/2.5/boolean, graphql/2.5/date, graphql/2.5/geo, graphql/2.5/phone, graphql/2.5/arrays
  it("of every type come out in the shapes of the reference", async () => {
    const rows = await http.rows(
      "Book",
      `{ Get { Book(limit: 1) { title body pages price sold published place { latitude longitude }
         phone { input internationalFormatted nationalFormatted national valid countryCode defaultCountry }
         cover tags counts scores flags dates } } }`,
    );
    expect(rows).toEqual([
      {
        title: "War and Peace",
        body: "Well, Prince",
        pages: 3_000_000_000,
        price: 9.5,
        sold: true,
        published: "2017-07-21T17:32:28.12Z",
        place: { latitude: 51.225555, longitude: 52.36667 },
        phone: expect.objectContaining({ input: "+311234567", internationalFormatted: "+31 1234567", countryCode: 31 }),
        cover: "aGVsbG8=",
        tags: ["a", "b"],
        counts: [1, 2],
        scores: [1.5],
        flags: [true],
        dates: ["2017-07-21T17:32:28.120+00:00"],
      },
    ]);
  });

  it("that are not set are null; `errors` is null in profile spec", async () => {
    const answer = await http.graphql("{ Get { Book(limit: 2) { title pages tags } } }");
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      data: {
        Get: {
          Book: [
            { title: "War and Peace", pages: 3_000_000_000, tags: ["a", "b"] },
            { title: "Second", pages: null, tags: null },
          ],
        },
      },
      errors: null,
    });
  });
});

describe("order, limit and offset", () => {
  const ids = (rows: readonly Row[]): unknown[] => rows.map((row) => at(row, "_additional", "id"));

  it("without near: ascending uuid over all shards, 100 by default", async () => {
    const all = Array.from({ length: 150 }, (_, i) => id(1000 + i));
    expect(ids(await http.rows("Many", "{ Get { Many { _additional { id } } } }"))).toEqual(all.slice(0, 100));
    expect(ids(await http.rows("Many", "{ Get { Many(limit: 7, offset: 90) { _additional { id } } } }"))).toEqual(
      all.slice(90, 97),
    );
    expect(ids(await http.rows("Many", "{ Get { Many(limit: 0) { _additional { id } } } }"))).toEqual([]);
    expect(ids(await http.rows("Many", "{ Get { Many(limit: 5, offset: 200) { _additional { id } } } }"))).toEqual([]);
  });

  it("over the maximum is an error at the class", async () => {
    const answer = await http.graphql("{ Get { Many(limit: 200, offset: 101) { _additional { id } } } }");
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      data: { Get: { Many: null } },
      errors: [
        {
          locations: [{ line: 1, column: 9 }],
          message:
            "query maximum results exceeded: an offset of 101 with a limit of 200 asks for more than 300 rows (QUERY_MAXIMUM_RESULTS): " +
            "ask for fewer",
          path: ["Get", "Many"],
        },
      ],
    });
    const near = await http.graphql(
      "{ Get { Many(limit: 301, nearVector: {vector: [1, 0]}) { _additional { id } } } }",
    );
    expect(at(near.json, "errors", 0, "message")).toBe(
      "query maximum results exceeded: a limit of 301 asks for more than 300 rows (QUERY_MAXIMUM_RESULTS): ask for fewer",
    );
  });
});

describe("nearVector and nearObject", () => {
  it("nearVector: by distance, certainty in float32, vector on demand", async () => {
    const rows = await http.rows(
      "Book",
      "{ Get { Book(nearVector: {vector: [2, 0, 0]}) { title _additional { id certainty vector } } } }",
    );
    expect(rows).toEqual([
      { title: "War and Peace", _additional: { id: id(1), certainty: 1, vector: [1, 0, 0] } },
      { title: "Second", _additional: { id: id(2), certainty: 0.8, vector: [0.6, 0.8, 0] } },
      { title: "Third", _additional: { id: id(3), certainty: 0, vector: [-1, 0, 0] } },
    ]);
  });

  it("certainty is a minimum, applied after the limit", async () => {
    const query = (args: string): string =>
      `{ Get { Book(nearVector: {vector: [1, 0, 0], certainty: 0.7} ${args}) { title } } }`;
    expect((await http.rows("Book", query(""))).length).toBe(2);
    expect(await http.rows("Book", query("limit: 1, offset: 1"))).toEqual([{ title: "Second" }]);
    expect(await http.rows("Book", query("limit: 5, offset: 2"))).toEqual([]);
  });

  it("nearObject finds itself first, by id or beacon of any scheme", async () => {
    for (const by of [
      `id: "${id(2)}"`,
      `beacon: "svc://localhost/${id(2)}"`,
      `beacon: "weaviate://localhost/${id(2)}"`,
    ]) {
      const rows = await http.rows("Book", `{ Get { Book(nearObject: {${by}}) { title } } }`);
      expect(
        rows.map((row) => row.title),
        by,
      ).toEqual(["Second", "War and Peace", "Third"]);
    }
  });

  it.each([
    ["nearObject: {}", "nearObject: it needs the id or the beacon of an object"],
    [`nearObject: {id: "${id(77)}"}`, `nearObject: no object with id '${id(77)}' is there, or it has no vector`],
    [
      `nearObject: {id: "${id(1)}"}, nearVector: {vector: [1, 0, 0]}`,
      "a query searches for one thing, got 'nearVector' and 'nearObject': choose one of them",
    ],
  ])("refuses %s", async (args, message) => {
    const answer = await http.graphql(`{ Get { Book(${args}) { title } } }`);
    expect(answer.status).toBe(200);
    expect(at(answer.json, "data", "Get", "Book")).toBeNull();
    expect(at(answer.json, "errors", 0, "message")).toBe(message);
  });

  it("refuses vectors of the wrong length and empty ones", async () => {
    const wrong = await http.graphql("{ Get { Book(nearVector: {vector: [1, 0]}) { title } } }");
    expect(at(wrong.json, "errors", 0, "message")).toMatch(
      /^class '.*' has vectors of 3 dimensions, got one of 2 \(vector lengths don't match: 2 vs 3\)/,
    );
    const empty = await http.graphql("{ Get { Book(nearVector: {vector: []}) { title } } }");
    expect(at(empty.json, "errors", 0, "message")).toContain("the vector that is searched for is empty");
  });

  it("a class without vectors answers nothing, a zero query vector certainty null", async () => {
    expect(await http.rows("Empty", "{ Get { Empty(nearVector: {vector: [1]}) { _additional { id } } } }")).toEqual([]);
    const zero = await http.rows(
      "Book",
      "{ Get { Book(nearVector: {vector: [0, 0, 0]}) { _additional { id certainty } } } }",
    );
    expect(zero.map((row) => at(row, "_additional", "certainty"))).toEqual([null, null, null]);
  });
});

describe("_additional", () => {
  it("is null when nothing of it exists, and its members are otherwise", async () => {
    const only = await http.rows("Book", "{ Get { Book(limit: 1) { title _additional { certainty } } } }");
    expect(only).toEqual([{ title: "War and Peace", _additional: null }]);
    const some = await http.rows("Book", "{ Get { Book(limit: 1) { _additional { id certainty } } } }");
    expect(some).toEqual([{ _additional: { id: id(1), certainty: null } }]);
  });
});

describe("the language", () => {
  it("aliases of classes and fields", async () => {
    const answer = await http.graphql(
      "{ Get { a: Book(limit: 1) { t: title x: _additional { i: id } } b: Book(limit: 1, offset: 1) { title } } }",
    );
    expect(at(answer.json, "data", "Get")).toEqual({
      a: [{ t: "War and Peace", x: { i: id(1) } }],
      b: [{ title: "Second" }],
    });
  });

  it("variables: vectors, numbers, whole arguments, defaults", async () => {
    const query = `query Q($v: [Float]!, $n: Int = 1) { Get { Book(nearVector: {vector: $v}, limit: $n) { title } } }`;
    const one = await http.graphql(query, { v: [0.6, 0.8, 0] });
    expect(at(one.json, "data", "Get", "Book")).toEqual([{ title: "Second" }]);
    const two = await http.graphql(query, { v: [-1, 0.1, 0], n: 2 });
    expect(at(two.json, "data", "Get", "Book")).toEqual([{ title: "Third" }, { title: "Second" }]);
    const wrong = await http.graphql(query, { v: "x" });
    expect(at(wrong.json, "errors", 0, "message")).toContain("$v");
  });

  it("fragments on a class, inline and named; @include and @skip", async () => {
    const answer = await http.graphql(
      `query Q($no: Boolean!) { Get { Book(limit: 1) { ...f ... on Book { pages } price @include(if: $no) title @skip(if: $no) } } }
       fragment f on Book { title _additional { id } }`,
      { no: false },
    );
    expect(at(answer.json, "data", "Get", "Book")).toEqual([
      { title: "War and Peace", _additional: { id: id(1) }, pages: 3_000_000_000 },
    ]);
  });

  it("operation names", async () => {
    const query = "query A { Get { Book(limit: 1) { title } } } query B { Get { Book(limit: 1) { pages } } }";
    expect(at((await http.graphql(query, undefined, "B")).json, "data", "Get", "Book")).toEqual([
      { pages: 3_000_000_000 },
    ]);
    const without = await http.graphql(query);
    expect(at(without.json, "errors", 0, "message")).toBe(
      "Must provide operation name if query contains multiple operations.",
    );
  });

  it("the same text with other literals gives other answers", async () => {
    for (const [vector, title] of [
      ["[1, 0, 0]", "War and Peace"],
      ["[-1,0.0,0]", "Third"],
      ["[6e-1, 0.8, 0]", "Second"],
    ]) {
      const rows = await http.rows("Book", `{ Get { Book(nearVector: {vector: ${vector}}, limit: 1) { title } } }`);
      expect(rows).toEqual([{ title }]);
    }
  });

  it("introspection", async () => {
    const answer = await http.graphql(
      `{ __typename __type(name: "Book") { name fields { name } }
         __schema { queryType { name fields { name type { name } } } mutationType { name } } }`,
    );
    expect(at(answer.json, "data", "__typename")).toBe("WeaviateObj");
    expect(at(answer.json, "data", "__schema", "queryType", "name")).toBe("WeaviateObj");
    expect(at(answer.json, "data", "__schema", "queryType", "fields")).toContainEqual({
      name: "Get",
      type: { name: "GetObjectsObj" },
    });
    expect(at(answer.json, "data", "__schema", "mutationType")).toBeNull();
    const fields = at(answer.json, "data", "__type", "fields") as readonly unknown[];
    expect(fields.map((field) => at(field, "name"))).toEqual(expect.arrayContaining(["title", "pages", "_additional"]));
  });

  // covers: graphql/1.5/rebuilt
  it("follows the schema at once", async () => {
    const unknown = await http.graphql("{ Get { Later { _additional { id } } } }");
    expect(at(unknown.json, "errors", 0, "message")).toContain('Cannot query field "Later" on type "GetObjectsObj".');
    await http.post("/v1/schema", { class: "Later" });
    expect(await http.rows("Later", "{ Get { Later { _additional { id } } } }")).toEqual([]);
    await http.post("/v1/schema/Later/properties", { name: "word", dataType: ["string"] });
    expect(await http.rows("Later", "{ Get { Later { word } } }")).toEqual([]);
    await http.delete("/v1/schema/Later");
    expect(at((await http.graphql("{ Get { Later { word } } }")).json, "errors", 0, "message")).toContain("Later");
  });
});
