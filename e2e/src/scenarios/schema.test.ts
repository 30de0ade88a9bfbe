import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { at, errorOf, type HttpClient } from "../http-client.js";
import { ServerProcess } from "../server-process.js";

let server: ServerProcess;
let http: HttpClient;

beforeAll(async () => {
  server = await ServerProcess.start();
  http = server.http;
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(async () => {
  const classes = at((await http.get("/v1/schema")).json, "classes") as readonly { class: string }[];
  for (const one of classes) await http.delete(`/v1/schema/${one.class}`);
});

/** A class with all defaults, byte for byte (reference-rest 4.1 with the defaults of profile `spec`). */
function defaultsOf(name: string, properties = "[]", shards = 1, before = ""): string {
  return (
    `{"class":"${name}",${before}"invertedIndexConfig":{"cleanupIntervalSeconds":60},"properties":${properties},` +
    `"shardingConfig":{"virtualPerPhysical":128,"desiredCount":${shards},"actualCount":${shards},` +
    `"desiredVirtualCount":${128 * shards},"actualVirtualCount":${128 * shards},"key":"_id","strategy":"hash",` +
    `"function":"murmur3"},"vectorIndexConfig":{"skip":false,"cleanupIntervalSeconds":300,"maxConnections":64,` +
    `"efConstruction":128,"ef":-1,"vectorCacheMaxObjects":500000,"flatSearchCutoff":40000},` +
    `"vectorIndexType":"hnsw","vectorizer":"none"}`
  );
}

describe("classes", () => {
  it("an empty schema is an empty list", async () => {
    const answer = await http.get("/v1/schema");
    expect(answer.status).toBe(200);
    expect(answer.text).toBe('{"classes":[]}\n');
    expect(answer.headers.get("content-type")).toBe("application/json");
  });

  it("a minimal class is answered and listed with every default, byte for byte", async () => {
    const created = await http.post("/v1/schema", { class: "YellowCars" });
    expect(created.status).toBe(200);
    expect(created.text).toBe(`${defaultsOf("YellowCars")}\n`);
    expect((await http.get("/v1/schema")).text).toBe(`{"classes":[${defaultsOf("YellowCars")}]}\n`);
    expect((await http.get("/v1/schema/YellowCars")).text).toBe(`${defaultsOf("YellowCars")}\n`);
  });

  it("keeps what was sent: description, properties, moduleConfig, config members; upper-cases the first letter", async () => {
    const answer = await http.post("/v1/schema", {
      class: "book",
      description: "what is read",
      moduleConfig: { mine: { a: 1 } },
      properties: [
        { name: "Title", dataType: ["text"], description: "on the cover", indexInverted: false },
        { name: "pages", dataType: ["int"], moduleConfig: { mine: { skip: true } } },
      ],
      vectorIndexConfig: { ef: 77, maxConnections: 32, unknownMember: 1 },
      invertedIndexConfig: { cleanupIntervalSeconds: 0 },
      shardingConfig: { desiredCount: 3, actualCount: 9 },
    });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json).toEqual({
      class: "Book",
      description: "what is read",
      invertedIndexConfig: { cleanupIntervalSeconds: 60 },
      moduleConfig: { mine: { a: 1 } },
      properties: [
        { dataType: ["text"], description: "on the cover", indexInverted: false, name: "title" },
        { dataType: ["int"], moduleConfig: { mine: { skip: true } }, name: "pages" },
      ],
      shardingConfig: {
        virtualPerPhysical: 128,
        desiredCount: 3,
        actualCount: 3,
        desiredVirtualCount: 384,
        actualVirtualCount: 384,
        key: "_id",
        strategy: "hash",
        function: "murmur3",
      },
      vectorIndexConfig: {
        skip: false,
        cleanupIntervalSeconds: 300,
        maxConnections: 32,
        efConstruction: 128,
        ef: 77,
        vectorCacheMaxObjects: 500000,
        flatSearchCutoff: 40000,
      },
      vectorIndexType: "hnsw",
      vectorizer: "none",
    });
    expect((await http.get("/v1/schema/book")).status).toBe(404);
  });

  it.each([
    [{ class: "" }, "'' is not a valid class name"],
    [{ class: "With-Dash" }, "'With-Dash' is not a valid class name"],
    [{ class: "Thing", vectorIndexType: "lsh" }, 'unrecognized or unsupported vectorIndexType "lsh"'],
    [{ class: "Thing", vectorizer: "nope" }, 'vectorizer: no module with name "nope" present'],
    [
      { class: "Thing", vectorIndexConfig: { ef: 1.5 } },
      'parse vector index config: ef: strconv.ParseInt: parsing "1.5": invalid syntax',
    ],
    [
      { class: "Thing", shardingConfig: { key: "foo" } },
      "parse vector index config: sharding only supported on key '_id' for now, got: foo",
    ],
    [
      { class: "Thing", shardingConfig: { strategy: "range" } },
      "parse vector index config: sharding only supported with strategy 'hash' for now, got: range",
    ],
    [
      { class: "Thing", shardingConfig: { function: "md5" } },
      "parse vector index config: sharding only supported with function 'murmur3' for now, got: md5",
    ],
    [{ class: "Thing", properties: [{ name: "id", dataType: ["string"] }] }, "'id' is a reserved property name"],
    [
      { class: "Thing", properties: [{ name: "some-prop", dataType: ["string"] }] },
      "'some-prop' is not a valid property name. Property names in Weaviate are restricted to valid GraphQL names, which must be “/[_A-Za-z][_0-9A-Za-z]*/”.",
    ],
    [
      {
        class: "Foo",
        properties: [
          { name: "name", dataType: ["string"] },
          { name: "name", dataType: ["string"] },
        ],
      },
      "name 'name' already in use as a property name for class 'Foo'",
    ],
    [
      { class: "Thing", properties: [{ name: "a", dataType: [] }] },
      "property 'a': invalid dataType: dataType must have at least one element",
    ],
    [
      { class: "Thing", properties: [{ name: "a", dataType: ["strng"] }] },
      "property 'a': invalid dataType: Unknown primitive data type 'strng'",
    ],
    [
      { class: "Thing", properties: [{ name: "a", dataType: ["Foo"] }] },
      "property 'a': invalid dataType: SingleRef class name 'Foo' does not exist",
    ],
  ])("refuses %j", async (body, message) => {
    const answer = await http.post("/v1/schema", body);
    expect([answer.status, errorOf(answer)]).toEqual([422, message]);
    expect((await http.get("/v1/schema")).text).toBe('{"classes":[]}\n');
  });

  it.each([{ desiredCount: 0 }, { desiredCount: -1 }, { virtualPerPhysical: 0 }])(
    "refuses shardingConfig %j",
    async (shardingConfig) => {
      expect((await http.post("/v1/schema", { class: "Thing", shardingConfig })).status).toBe(422);
    },
  );

  it("refuses a name that is taken, also when only the case differs", async () => {
    await http.post("/v1/schema", { class: "YellowCars" });
    for (const name of ["YellowCars", "yellowCars", "Yellowcars"]) {
      const answer = await http.post("/v1/schema", { class: name });
      expect(answer.status, name).toBe(422);
      expect(errorOf(answer)).toContain("YellowCars");
    }
  });

  it("refuses names whose GraphQL types would collide, naming both", async () => {
    await http.post("/v1/schema", { class: "Book" });
    const answer = await http.post("/v1/schema", { class: "BookAdditional" });
    expect(answer.status).toBe(422);
    expect(errorOf(answer)).toContain("Book");
    expect(errorOf(answer)).toContain("BookAdditional");
    const dunder = await http.post("/v1/schema", {
      class: "Thing",
      properties: [{ name: "__x", dataType: ["string"] }],
    });
    expect(dunder.status).toBe(422);
  });

  it("accepts the wide class names", async () => {
    for (const name of ["A", "ABC", "Class2", "With_Underscore"]) {
      expect((await http.post("/v1/schema", { class: name })).status, name).toBe(200);
    }
  });

  it("answers 404 for a class that is not there, without a body's JSON types mattering", async () => {
    const answer = await http.get("/v1/schema/Nope");
    expect(answer.status).toBe(404);
  });

  it("deletes a class with its data; an unknown one is 400", async () => {
    await http.post("/v1/schema", { class: "Thing" });
    const id = "11111111-1111-1111-1111-111111111111";
    await http.post("/v1/objects", { class: "Thing", id, vector: [1, 2] });
    const gone = await http.delete("/v1/schema/Thing");
    expect([gone.status, gone.text]).toEqual([200, ""]);
    expect((await http.get(`/v1/objects/${id}`)).status).toBe(404);
    await http.post("/v1/schema", { class: "Thing" });
    expect((await http.get(`/v1/objects/${id}`)).status).toBe(404);
    // The dimension goes with the class.
    expect((await http.post("/v1/objects", { class: "Thing", id, vector: [1, 2, 3] })).status).toBe(200);
    const unknown = await http.delete("/v1/schema/Nope");
    expect([unknown.status, errorOf(unknown)]).toEqual([400, "could not find class 'Nope'"]);
  });
});

describe("adding a property", () => {
  beforeEach(async () => {
    await http.post("/v1/schema", { class: "Foo", properties: [{ name: "body", dataType: ["text"] }] });
  });

  it("answers the property and lists it", async () => {
    const answer = await http.post("/v1/schema/Foo/properties", { name: "Pages", dataType: ["int"] });
    expect([answer.status, answer.text]).toEqual([200, '{"dataType":["int"],"name":"pages"}\n']);
    expect((await http.get("/v1/schema/Foo")).text).toBe(
      `${defaultsOf("Foo", '[{"dataType":["text"],"name":"body"},{"dataType":["int"],"name":"pages"}]')}\n`,
    );
    // A reference to the class itself is possible only here.
    expect((await http.post("/v1/schema/Foo/properties", { name: "next", dataType: ["Foo"] })).status).toBe(200);
  });

  it.each([
    ["Foo", { name: "body", dataType: ["int"] }, "Name 'body' already in use as a property name for class 'Foo'"],
    ["Foo", { name: "Id", dataType: ["int"] }, "'id' is a reserved property name"],
    [
      "Foo",
      { name: "a", dataType: ["strng"] },
      "Data type of property 'a' is invalid; Unknown primitive data type 'strng'",
    ],
    [
      "foo",
      { name: "a", dataType: ["int"] },
      "no such class with name 'foo' found in the schema. Check your schema files for which classes are available",
    ],
  ])("refuses %s %j", async (name, body, message) => {
    const answer = await http.post(`/v1/schema/${name}/properties`, body);
    expect([answer.status, errorOf(answer)]).toEqual([422, message]);
  });
});

describe("bodies that cannot be read", () => {
  it.each([
    ["not JSON", "{bad", 400],
    ["an array", "[]", 400],
    ["a number as name", '{"class":1}', 400],
    ["a string as dataType", '{"class":"T","properties":[{"name":"a","dataType":"text"}]}', 400],
    ["nothing", "", 422],
  ])("%s: %s gives %i with an error body", async (_, body, status) => {
    const answer = await http.post("/v1/schema", body);
    expect(answer.status, answer.text).toBe(status);
    expect(typeof errorOf(answer)).toBe("string");
  });
});
