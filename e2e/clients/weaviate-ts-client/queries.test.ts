import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { WeaviateClient } from "weaviate-ts-client";
import { at } from "../../src/http-client.js";
import type { ServerProcess } from "../../src/server-process.js";
import { startClient, stopClient } from "./start-client.js";

let server: ServerProcess;
let client: WeaviateClient;

const id = (letter: string, n: number): string => `${letter}0000000-0000-0000-0000-00000000000${n}`;
const link = (target: string) => ({ beacon: `weaviate://localhost/${target}` });

beforeAll(async () => {
  ({ server, client } = await startClient());
  const property = (name: string, ...dataType: string[]) => ({ name, dataType });
  const country = { class: "Country", properties: [property("name", "string")] };
  const properties = [
    property("name", "string"),
    property("about", "text"),
    property("population", "int"),
    property("height", "number"),
    property("isCapital", "boolean"),
    property("founded", "date"),
    property("place", "geoCoordinates"),
    property("tags", "string[]"),
    property("inCountry", "Country"),
  ];
  await client.schema.classCreator().withClass(country).do();
  await client.schema.classCreator().withClass({ class: "City", properties }).do();
  await client.batch
    .objectsBatcher()
    .withObjects(
      { class: "Country", id: id("c", 1), properties: { name: "Netherlands" }, vector: [0, 1] },
      { class: "Country", id: id("c", 2), properties: { name: "Germany" }, vector: [0, 1] },
    )
    .do();
  await client.batch
    .objectsBatcher()
    .withObjects(
      {
        class: "City",
        id: id("a", 1),
        vector: [1, 0.1],
        properties: {
          name: "Amsterdam",
          about: "Water, bikes and museums",
          population: 1_800_000,
          height: -2,
          isCapital: true,
          founded: "1275-10-27T00:00:00Z",
          place: { latitude: 52.366667, longitude: 4.9 },
          tags: ["water", "bikes"],
          inCountry: [link(id("c", 1))],
        },
      },
      {
        class: "City",
        id: id("a", 2),
        vector: [1, 0.2],
        properties: {
          name: "Berlin",
          about: "Bears",
          population: 3_470_000,
          isCapital: true,
          inCountry: [link(id("c", 2))],
        },
      },
      {
        class: "City",
        id: id("a", 3),
        vector: [-1, 0],
        properties: {
          name: "Düsseldorf",
          population: 600_000,
          isCapital: false,
          place: { latitude: 51.225556, longitude: 6.782778 },
          inCountry: [link(id("c", 2))],
        },
      },
    )
    .do();
});
afterAll(() => stopClient(server));

type Where = Parameters<ReturnType<WeaviateClient["graphql"]["get"]>["withWhere"]>[0];

async function names(where: Where): Promise<unknown> {
  const answer = await client.graphql.get().withClassName("City").withFields("name").withWhere(where).do();
  return (at(answer, "data", "Get", "City") as readonly unknown[]).map((row) => at(row, "name"));
}

describe("weaviate-ts-client: Get with a filter", () => {
  const cases: readonly (readonly [string, Where, readonly string[]])[] = [
    ["valueString", { operator: "Equal", path: ["name"], valueString: "Berlin" }, ["Berlin"]],
    ["valueText", { operator: "Equal", path: ["about"], valueText: "BIKES water" }, ["Amsterdam"]],
    ["valueInt", { operator: "GreaterThan", path: ["population"], valueInt: 1_000_000 }, ["Amsterdam", "Berlin"]],
    ["valueNumber", { operator: "LessThan", path: ["height"], valueNumber: 0 }, ["Amsterdam"]],
    ["valueBoolean", { operator: "NotEqual", path: ["isCapital"], valueBoolean: true }, ["Düsseldorf"]],
    ["valueDate", { operator: "LessThanEqual", path: ["founded"], valueDate: "1275-10-27T00:00:00Z" }, ["Amsterdam"]],
    ["Like", { operator: "Like", path: ["name"], valueString: "?er*" }, ["Berlin"]],
    [
      "valueGeoRange",
      {
        operator: "WithinGeoRange",
        path: ["place"],
        valueGeoRange: { geoCoordinates: { latitude: 51.2, longitude: 6.8 }, distance: { max: 100_000 } },
      },
      ["Düsseldorf"],
    ],
    ["valueStringArray", { operator: "ContainsAny", path: ["tags"], valueStringArray: ["bikes", "x"] }, ["Amsterdam"]],
    ["IsNull", { operator: "IsNull", path: ["founded"], valueBoolean: true }, ["Berlin", "Düsseldorf"]],
    [
      "a reference path",
      { operator: "Equal", path: ["inCountry", "Country", "name"], valueString: "Germany" },
      ["Berlin", "Düsseldorf"],
    ],
    [
      "a reference count",
      { operator: "Equal", path: ["inCountry"], valueInt: 1 },
      ["Amsterdam", "Berlin", "Düsseldorf"],
    ],
    ["the id", { operator: "Equal", path: ["id"], valueString: id("a", 3) }, ["Düsseldorf"]],
    [
      "operands",
      {
        operator: "And",
        operands: [
          { operator: "Equal", path: ["isCapital"], valueBoolean: true },
          {
            operator: "Or",
            operands: [
              { operator: "Equal", path: ["name"], valueString: "Berlin" },
              { operator: "Equal", path: ["name"], valueString: "Düsseldorf" },
            ],
          },
        ],
      },
      ["Berlin"],
    ],
  ];
  it.each(cases)("by %s", async (_, where, found) => expect(await names(where)).toEqual(found));

  it("with near arguments, limit and offset", async () => {
    const query = client.graphql
      .get()
      .withClassName("City")
      .withFields("name _additional { id certainty }")
      .withWhere({ operator: "LessThan", path: ["population"], valueInt: 2_000_000 });
    const near = await query
      .withNearVector({ vector: [1, 0.2], certainty: 0.6 })
      .withLimit(2)
      .do();
    expect(at(near, "data", "Get", "City")).toMatchObject([{ name: "Amsterdam", _additional: { id: id("a", 1) } }]);
    const byObject = client.graphql
      .get()
      .withClassName("City")
      .withFields("name")
      .withNearObject({ id: id("a", 3) });
    expect(at(await byObject.withLimit(1).withOffset(1).do(), "data", "Get", "City")).toEqual([{ name: "Berlin" }]);
  });

  it("hears of an error in its filter", async () => {
    const where: Where = { operator: "Equal", path: ["nothing"], valueString: "x" };
    const asked = client.graphql.get().withClassName("City").withFields("name").withWhere(where).do();
    await expect(asked).rejects.toThrow("no such prop with name 'nothing' found in class 'City'");
  });
});

describe("weaviate-ts-client: other queries", () => {
  it("references", async () => {
    const fields = "name inCountry { ... on Country { name _additional { id } } }";
    const answer = await client.graphql.get().withClassName("City").withFields(fields).withLimit(1).do();
    expect(at(answer, "data", "Get", "City")).toEqual([
      { name: "Amsterdam", inCountry: [{ name: "Netherlands", _additional: { id: id("c", 1) } }] },
    ]);
    expect(at(answer, "errors")).toBeUndefined();
  });

  it("group", async () => {
    const query = client.graphql.get().withClassName("City").withFields("name");
    const merged = await query.withGroup({ type: "merge", force: 0.1 }).do();
    expect(at(merged, "data", "Get", "City")).toEqual([{ name: "Amsterdam (Berlin)" }, { name: "Düsseldorf" }]);
    const closest = client.graphql
      .get()
      .withClassName("City")
      .withFields("name")
      .withGroup({ type: "closest", force: 0.1 });
    expect(at(await closest.do(), "data", "Get", "City")).toEqual([{ name: "Amsterdam" }, { name: "Düsseldorf" }]);
  });

  it("Explore", async () => {
    const fields = "beacon className certainty";
    const answer = await client.graphql
      .explore()
      .withFields(fields)
      .withNearVector({ vector: [0, 1] })
      .withLimit(2)
      .do();
    expect(at(answer, "data", "Explore")).toEqual([
      { beacon: `weaviate://localhost/${id("c", 1)}`, className: "Country", certainty: 1 },
      { beacon: `weaviate://localhost/${id("c", 2)}`, className: "Country", certainty: 1 },
    ]);
    const byObject = client.graphql
      .explore()
      .withFields("className")
      .withNearObject({ id: id("a", 3) })
      .withLimit(1);
    expect(at(await byObject.do(), "data", "Explore")).toEqual([{ className: "City" }]);
  });

  it("Aggregate", async () => {
    const fields =
      "meta { count } population { count mean maximum minimum sum type } isCapital { totalTrue percentageTrue } " +
      "name { topOccurrences(limit: 1) { value occurs } } inCountry { type pointingTo }";
    const where: Where = { operator: "Equal", path: ["isCapital"], valueBoolean: true };
    const answer = await client.graphql.aggregate().withClassName("City").withFields(fields).withWhere(where).do();
    expect(at(answer, "data", "Aggregate", "City")).toEqual([
      {
        meta: { count: 2 },
        population: { count: 2, mean: 2_635_000, maximum: 3_470_000, minimum: 1_800_000, sum: 5_270_000, type: "int" },
        isCapital: { totalTrue: 2, percentageTrue: 1 },
        name: { topOccurrences: [{ value: "Amsterdam", occurs: 1 }] },
        inCountry: { type: "cref", pointingTo: ["Country"] },
      },
    ]);
  });

  it("Aggregate by groups", async () => {
    const query = client.graphql
      .aggregate()
      .withClassName("City")
      .withFields("groupedBy { path value } meta { count }");
    expect(at(await query.withGroupBy(["isCapital"]).withLimit(5).do(), "data", "Aggregate", "City")).toEqual([
      { groupedBy: { path: ["isCapital"], value: "true" }, meta: { count: 2 } },
      { groupedBy: { path: ["isCapital"], value: "false" }, meta: { count: 1 } },
    ]);
  });

  it("raw queries", async () => {
    const answer = await client.graphql.raw().withQuery("{ Get { City(limit: 1) { name } } }").do();
    expect(at(answer, "data", "Get", "City")).toEqual([{ name: "Amsterdam" }]);
  });
});
