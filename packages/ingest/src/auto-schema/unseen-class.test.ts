import { describe, expect, it } from "vitest";
import type { ObjectInput } from "../ingest-service.js";
import { input, MISSING_VECTOR, refusal, setUp } from "../ingest-setup.fixture.js";
import { AUTO, batch, definition, ID, typesOf, withProperties } from "./auto-schema.fixture.js";

describe("an object of an unseen class", () => {
  it("makes the class with all properties, in one change, and is stored", async () => {
    const setup = setUp({ autoSchema: {} });
    const properties = {
      name: "a",
      born: "2017-07-21T17:32:28Z",
      size: 1,
      good: true,
      place: { latitude: 1, longitude: 2 },
      phone: { input: "+31 20 1234567" },
      tags: ["a"],
      scores: [1.5],
      empty: [],
      gone: null,
    };
    const { object } = await setup.ingest.createObject(
      withProperties("autoThing", properties, { id: ID }),
      setup.context,
    );
    expect(object).toMatchObject({ className: "AutoThing", properties: { name: "a", scores: [1.5] } });
    expect(Object.keys(object.properties ?? {})).not.toContain("gone");
    expect(definition(setup, "AutoThing")).toMatchObject({
      class: "AutoThing",
      description: "Auto generated class",
      vectorizer: "none",
      vectorIndexType: "hnsw",
      properties: expect.arrayContaining([{ ...AUTO, name: "name" }]),
    });
    expect(typesOf(setup, "AutoThing")).toEqual({
      name: ["text"],
      born: ["date"],
      size: ["number"],
      good: ["boolean"],
      place: ["geoCoordinates"],
      phone: ["phoneNumber"],
      tags: ["text[]"],
      scores: ["number[]"],
    });
    expect(setup.cluster.schemaChanges).toBe(1);
    expect(setup.cluster.row("AutoThing", ID)?.object.properties).toMatchObject({ name: "a" });
  });

  it("needs no properties", async () => {
    const setup = setUp({ autoSchema: {} });
    await setup.ingest.createObject(input("Empty"), setup.context);
    expect(definition(setup, "Empty")?.properties).toEqual([]);
  });

  it("takes the types that are set for texts, numbers and dates", async () => {
    const setup = setUp({ autoSchema: { string: "string", number: "int", date: "text" } });
    const properties = { a: "x", b: 1, c: "2017-07-21T17:32:28Z", d: ["x"], e: [1] };
    await setup.ingest.createObject(withProperties("Thing", properties), setup.context);
    expect(typesOf(setup, "Thing")).toEqual({ a: ["string"], b: ["int"], c: ["text"], d: ["string[]"], e: ["int[]"] });
    expect(await refusal(setup.ingest.createObject(withProperties("Other", { b: 1.5 }), setup.context))).toBe(
      "invalid: invalid object: invalid integer property 'b' on class 'Other': " +
        "requires an integer of at most 64 bits, without fraction or exponent, but got the number 1.5",
    );
    expect(definition(setup, "Other")).toBeUndefined();
  });

  it.each<[string, ObjectInput, string]>([
    [
      "a map",
      withProperties("Thing", { name: "x", m: { a: 1 } }),
      "auto-schema has no data type for property 'm' of class 'Thing': a map must be geoCoordinates ('latitude' and 'longitude') or a phoneNumber ('input')",
    ],
    [
      "a list of lists",
      withProperties("Thing", { m: [[1]] }),
      "auto-schema has no data type for property 'm' of class 'Thing': a list must hold texts, numbers, booleans, dates or references ('beacon')",
    ],
    [
      "a mixed list",
      withProperties("Thing", { name: "x", m: ["a", 1] }),
      "invalid string array property 'm' on class 'Thing': element 1 is not a string, but the number 1",
    ],
    [
      "bad coordinates",
      withProperties("Thing", { m: { latitude: 1, longitude: "x" } }),
      `invalid geoCoordinates property 'm' on class 'Thing': the member 'longitude' must be a number, but got the string "x"`,
    ],
    [
      "properties that are none",
      withProperties("Thing", "x"),
      `the properties of class 'Thing' must be an object, but got the string "x"`,
    ],
    [
      "bad weights",
      withProperties("Thing", {}, { vectorWeights: "x" }),
      'vector weights: must be an object whose values are strings, got the string "x"',
    ],
    [
      "a bad property name",
      withProperties("Thing", { "some-prop": 1 }),
      "'some-prop' is not a valid property name: it must begin with a letter or _, followed by letters A to Z, digits and _ only",
    ],
    [
      "a bad name without a value",
      withProperties("Thing", { "some-prop": null }),
      "'some-prop' is not a valid property name: it must begin with a letter or _, followed by letters A to Z, digits and _ only",
    ],
    [
      "a reserved name",
      withProperties("Thing", { Id: "x" }),
      "'id' is a reserved property name: it means something else in answers and filters",
    ],
    [
      "a key that would reach a prototype",
      withProperties("Thing", JSON.parse('{"__proto__":{"input":"x"}}')),
      "'__proto__' is not a valid property name: GraphQL keeps names that begin with '__' for itself",
    ],
    [
      "a property twice",
      withProperties("Thing", { name: "a", Name: "b" }),
      "property 'name' of class 'Thing' is given twice, also as 'Name'",
    ],
    [
      "a bad class name",
      input("Auto-3"),
      "'Auto-3' is not a valid class name: behind its first letter, only letters A to Z, digits and _ may follow",
    ],
    [
      "a class that differs in case only",
      input("BUS"),
      "Name 'BUS' already used as a name for an Object class: 'Bus' differs only in case",
    ],
    [
      "a class that GraphQL cannot have",
      input("BusAdditional"),
      "the GraphQL type 'BusAdditional' of class 'BusAdditional' would collide with that of class 'Bus'",
    ],
  ])("is refused with %s, and nothing is left behind", async (what, object, message) => {
    const setup = setUp({ autoSchema: {} });
    const before = setup.cluster.snapshot;
    expect(await refusal(setup.ingest.createObject(object, setup.context)), what).toBe(
      `invalid: invalid object: ${message}`,
    );
    expect(setup.cluster.snapshot).toBe(before);
    const [item] = await batch(setup, [object]);
    expect(item?.startsWith(message)).toBe(true);
    expect(setup.cluster.snapshot).toBe(before);
  });

  it.each([
    ["no vector", undefined, MISSING_VECTOR.replace("Car", "Thing")],
    ["a vector that is none", ["x"], undefined],
  ])("is refused with %s, and nothing is left behind", async (_, vector, message) => {
    const setup = setUp({ autoSchema: {} });
    const before = setup.cluster.snapshot;
    const refused = await refusal(setup.ingest.createObject(input("Thing", { vector }), setup.context));
    expect(refused).toMatch(/^invalid: (?!invalid object)/);
    if (message !== undefined) expect(refused).toBe(`invalid: ${message}`);
    expect(setup.cluster.snapshot).toBe(before);
  });

  it("is refused when its id is taken, before anything else, and nothing is left behind", async () => {
    const setup = setUp({ autoSchema: {} });
    const bus = setup.cluster.classRecord("Bus");
    if (bus !== undefined) setup.cluster.plant(bus, ID);
    const before = setup.cluster.snapshot;
    expect(await refusal(setup.ingest.createObject(input("Thing", { id: ID }), setup.context))).toBe(
      `invalid: id '${ID}' already exists`,
    );
    expect(setup.cluster.snapshot).toBe(before);
  });

  it("F6: is stored while shards of other classes cannot say whether they have its id", async () => {
    const { cluster, ingest, context } = setUp({ autoSchema: {} });
    cluster.downShards.add("Bus").add("Car").add("Note");
    await ingest.createObject(input("Thing", { id: ID }), context);
    expect(cluster.row("Thing", ID)?.object.id).toBe(ID);
  });

  it("F6: adds nothing to a class whose own shard cannot say whether its id is taken", async () => {
    const { cluster, ingest, context } = setUp({ autoSchema: {} });
    cluster.downShards.add("Bus");
    const before = cluster.snapshot;
    const refused = await refusal(ingest.createObject(withProperties("Bus", { news: 1 }, { id: ID }), context));
    expect(refused).toBe("unavailable: a shard of 'Bus' is down");
    expect(cluster.snapshot).toBe(before);
  });

  it("is refused everywhere when auto-schema is off, and always by PUT, PATCH and validate", async () => {
    const off = setUp();
    const refused =
      "invalid: invalid object: could not find class 'Thing' in the schema: create it with POST /v1/schema first";
    expect(await refusal(off.ingest.createObject(input("Thing"), off.context))).toBe(refused);
    expect(await batch(off, [input("Thing")])).toEqual([
      "could not find class 'Thing' in the schema: create it with POST /v1/schema first",
    ]);
    const { ingest, context, cluster } = setUp({ autoSchema: {} });
    expect(await refusal(ingest.validateObject(input("Thing"), context))).toBe(refused);
    await ingest.createObject(input("Bus", { id: ID }), context);
    const before = cluster.snapshot;
    const news = withProperties("Bus", { news: 1 });
    expect(await refusal(ingest.replaceObject(ID, news, context))).toContain("no such prop with name 'news'");
    expect(await refusal(ingest.mergeObject(ID, news, context))).toContain("no such prop with name 'news'");
    expect(await refusal(ingest.validateObject(news, context))).toContain("no such prop with name 'news'");
    expect(cluster.snapshot).toBe(before);
  });
});
