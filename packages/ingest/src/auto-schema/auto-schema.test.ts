import type { ClassDefinition, ObjectId } from "@shoal/model";
import { ShoalError } from "@shoal/model";
import { describe, expect, it } from "vitest";
import type { ObjectInput } from "../ingest-service.js";
import { input, MISSING_VECTOR, refusal, type Setup, setUp } from "../ingest-setup.fixture.js";

const ID = "11111111-1111-1111-1111-111111111111" as ObjectId;
const OTHER = "22222222-2222-2222-2222-222222222222" as ObjectId;
const AUTO = { dataType: ["text"], description: "Auto generated property" };

function withProperties(className: string, properties: unknown, rest: Partial<ObjectInput> = {}): ObjectInput {
  return input(className, { properties, ...rest });
}

function definition({ cluster }: Setup, className: string): ClassDefinition | undefined {
  return cluster.classRecord(className)?.definition;
}

function typesOf(setup: Setup, className: string): Record<string, readonly string[]> {
  const properties = definition(setup, className)?.properties ?? [];
  return Object.fromEntries(properties.map(({ name, dataType }) => [name, dataType]));
}

/** `stored` for each item, or its error. */
async function batch({ ingest, context }: Setup, inputs: readonly ObjectInput[]): Promise<string[]> {
  const outcomes = await ingest.importObjects(inputs, context);
  return outcomes.map((outcome) => ("written" in outcome ? "stored" : outcome.error.message));
}

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
        "the JSON number '1.5' could not be converted to an int",
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
      "invalid string array property 'm' on class 'Thing': invalid string array value: [a 1]",
    ],
    [
      "bad coordinates",
      withProperties("Thing", { m: { latitude: 1, longitude: "x" } }),
      "invalid geoCoordinates property 'm' on class 'Thing': invalid longitude: must be json.Number or float, but got string",
    ],
    [
      "properties that are none",
      withProperties("Thing", "x"),
      "the properties of class 'Thing' must be an object, but got string",
    ],
    [
      "bad weights",
      withProperties("Thing", {}, { vectorWeights: "x" }),
      'vector weights: must be key/value object with strings as keys and values, got "x"',
    ],
    [
      "a bad property name",
      withProperties("Thing", { "some-prop": 1 }),
      "'some-prop' is not a valid property name. Property names in Weaviate are restricted to valid GraphQL names, which must be “/[_A-Za-z][_0-9A-Za-z]*/”.",
    ],
    [
      "a bad name without a value",
      withProperties("Thing", { "some-prop": null }),
      "'some-prop' is not a valid property name. Property names in Weaviate are restricted to valid GraphQL names, which must be “/[_A-Za-z][_0-9A-Za-z]*/”.",
    ],
    ["a reserved name", withProperties("Thing", { Id: "x" }), "'id' is a reserved property name"],
    [
      "a key that would reach a prototype",
      withProperties("Thing", JSON.parse('{"__proto__":{"input":"x"}}')),
      "'__proto__' is not a valid property name. Names that begin with '__' are kept by GraphQL for itself",
    ],
    [
      "a property twice",
      withProperties("Thing", { name: "a", Name: "b" }),
      "property 'name' of class 'Thing' is given twice, also as 'Name'",
    ],
    ["a bad class name", input("Auto-3"), "'Auto-3' is not a valid class name"],
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
    ["no vector", undefined, MISSING_VECTOR],
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

  it("waits until it is known whether its id is free", async () => {
    const setup = setUp({ autoSchema: {}, nodes: 1 });
    setup.cluster.downNodes.add("node0");
    const before = setup.cluster.snapshot;
    expect(await refusal(setup.ingest.createObject(input("Thing", { id: ID }), setup.context))).toMatch(
      /^unavailable: /,
    );
    expect(setup.cluster.snapshot).toBe(before);
  });

  it("is refused everywhere when auto-schema is off, and always by PUT, PATCH and validate", async () => {
    const off = setUp();
    const refused = "invalid: invalid object: class 'Thing' not present in schema";
    expect(await refusal(off.ingest.createObject(input("Thing"), off.context))).toBe(refused);
    expect(await batch(off, [input("Thing")])).toEqual([
      "class 'Thing' not present in schema, class Thing not present",
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

describe("an object of a seen class", () => {
  it("adds all its unseen properties in one change before it is stored", async () => {
    const setup = setUp({ autoSchema: {} });
    setup.cluster.beforePut = () => expect(Object.keys(typesOf(setup, "Car"))).toContain("doors");
    const object = withProperties("car", { Name: "a", wheels: 4, doors: 2, Color: "red" });
    const written = await setup.ingest.createObject(object, setup.context);
    expect(written.object).toMatchObject({
      className: "Car",
      properties: { name: "a", wheels: 4, doors: 2, color: "red" },
    });
    expect(definition(setup, "Car")?.properties?.slice(3)).toEqual([
      { dataType: ["number"], description: "Auto generated property", name: "doors" },
      { ...AUTO, name: "color" },
    ]);
    expect(setup.cluster.schemaChanges).toBe(1);
  });

  it("changes nothing when it only brings what says nothing, or names in another case", async () => {
    const setup = setUp({ autoSchema: {} });
    setup.cluster.beforeEnsure = () => Promise.reject(new Error("no change is needed"));
    const before = setup.cluster.snapshot;
    const object = withProperties("car", { Wheels: 4, unseen: null, other: [] });
    const { object: stored } = await setup.ingest.createObject(object, setup.context);
    expect(stored.properties).toEqual({ wheels: 4 });
    expect(await batch(setup, [object, object])).toEqual(["stored", "stored"]);
    expect(setup.cluster.snapshot).toBe(before);
    expect(setup.cluster.fixCalls).toBeGreaterThan(0);
  });

  it("raises an ordinary error when a value conflicts with a seen property, and adds nothing", async () => {
    const setup = setUp({ autoSchema: {} });
    const before = setup.cluster.snapshot;
    expect(
      await refusal(setup.ingest.createObject(withProperties("Car", { wheels: "x", news: 1 }), setup.context)),
    ).toBe(
      "invalid: invalid object: invalid integer property 'wheels' on class 'Car': " +
        "requires an integer, the given value is 'x'",
    );
    expect(await refusal(setup.ingest.createObject(withProperties("Car", { wheels: null }), setup.context))).toContain(
      "requires an integer, the given value is '<nil>'",
    );
    const wrongLength = withProperties("Car", { news: 1 }, { vector: [1, 2, 3] });
    await setup.ingest.createObject(input("Car"), setup.context);
    setup.cluster.publishDimensions();
    expect(await refusal(setup.ingest.createObject(wrongLength, setup.context))).toMatch(/^invalid: .*3/);
    expect(typesOf(setup, "Car")).not.toHaveProperty("news");
    expect(before.classes).toHaveLength(setup.cluster.snapshot.classes.length);
  });

  it("stays within the limits of the schema, which the message names", async () => {
    const setup = setUp({ autoSchema: {} });
    setup.cluster.schemaLimits = { classesMax: 3, propertiesPerClassMax: 4 };
    const wide = withProperties("Car", { a: 1, b: 2 });
    expect(await refusal(setup.ingest.createObject(wide, setup.context))).toBe(
      "invalid: invalid object: class 'Car' would have 5 properties, at most 4 are allowed (SCHEMA_CLASS_PROPERTIES_MAX)",
    );
    expect(await refusal(setup.ingest.createObject(input("Thing"), setup.context))).toBe(
      "invalid: invalid object: the schema would have 4 classes, at most 3 are allowed (SCHEMA_CLASSES_MAX)",
    );
    expect(await batch(setup, [wide, withProperties("Car", { a: 1 }), withProperties("Car", { b: 1 })])).toEqual([
      "class 'Car' would have 5 properties, at most 4 are allowed (SCHEMA_CLASS_PROPERTIES_MAX)",
      "stored",
      "class 'Car' would have 5 properties, at most 4 are allowed (SCHEMA_CLASS_PROPERTIES_MAX)",
    ]);
  });
});

describe("references", () => {
  const to = (...ids: string[]) => ids.map((id) => ({ beacon: `weaviate://localhost/${id}`, href: "/x" }));

  function withTargets(): Setup {
    const setup = setUp({ autoSchema: {}, shards: 3, nodes: 2 });
    const { cluster } = setup;
    for (const [className, id] of [
      ["Bus", ID],
      ["Note", OTHER],
    ] as const) {
      const record = cluster.classRecord(className);
      if (record !== undefined) cluster.plant(record, id);
    }
    return setup;
  }

  it("become properties of the classes of their targets, each once", async () => {
    const setup = withTargets();
    setup.cluster.calls.length = 0;
    const properties = { one: to(ID), both: to(OTHER, ID, OTHER) };
    const { object } = await setup.ingest.createObject(withProperties("Thing", properties), setup.context);
    expect(typesOf(setup, "Thing")).toEqual({ one: ["Bus"], both: ["Note", "Bus"] });
    expect(object.properties?.one).toEqual([{ beacon: `svc://localhost/${ID}` }]);
    const asked = setup.cluster.calls.filter((call) => !call.includes(" put "));
    expect(asked.length).toBeLessThanOrEqual(4);
  });

  it("of a batch are looked for together", async () => {
    const setup = withTargets();
    setup.cluster.calls.length = 0;
    const inputs = Array.from({ length: 50 }, (_, i) =>
      withProperties("Thing", { [`p${i % 5}`]: to(i % 2 ? ID : OTHER) }),
    );
    expect(new Set(await batch(setup, inputs))).toEqual(new Set(["stored"]));
    expect(setup.cluster.schemaChanges).toBe(1);
    expect(setup.cluster.calls.filter((call) => !call.includes(" put ")).length).toBeLessThanOrEqual(4);
  });

  it.each([
    [
      to("33333333-3333-3333-3333-333333333333"),
      "invalid cref: 'cref' Thing:ref: no object with id 33333333-3333-3333-3333-333333333333 found",
    ],
    [
      to(ID, "33333333-3333-3333-3333-333333333333"),
      "invalid cref: 'cref' Thing:ref: no object with id 33333333-3333-3333-3333-333333333333 found",
    ],
    [
      [{ beacon: "svc://localhost/zzz" }],
      "invalid cref: invalid reference: invalid cref URI: 2nd path segment must be uuid, but got 'zzz'",
    ],
    [[{ beacon: `svc://elsewhere/${ID}` }], "invalid cref: unrecognized cross-ref ref format"],
    [
      [{ beacon: 5 }],
      "invalid cref: class 'Thing' with property 'ref': the beacon must be a string, but got json.Number",
    ],
  ])("that point nowhere are refused: %j", async (ref, message) => {
    const setup = withTargets();
    const before = setup.cluster.snapshot;
    const object = withProperties("Thing", { ref });
    expect(await refusal(setup.ingest.createObject(object, setup.context))).toContain(
      `invalid: invalid object: ${message}`,
    );
    expect((await batch(setup, [object]))[0]).toContain(message);
    expect(setup.cluster.snapshot).toBe(before);
  });

  it("of a seen property must exist before the schema changes", async () => {
    const setup = withTargets();
    const before = setup.cluster.snapshot;
    const object = withProperties("Car", { notes: to("33333333-3333-3333-3333-333333333333"), news: 1 });
    expect(await refusal(setup.ingest.createObject(object, setup.context))).toContain(
      "'cref' Car:notes: no object with id",
    );
    expect(setup.cluster.snapshot).toBe(before);
  });

  it("that cannot be looked for are unavailable, not missing", async () => {
    const setup = withTargets();
    for (const node of setup.cluster.nodeNames) setup.cluster.downNodes.add(node);
    const object = withProperties("Thing", { ref: to(ID) });
    expect(await refusal(setup.ingest.createObject(object, setup.context))).toMatch(/^unavailable: /);
  });
});

describe("failures of the coordinator", () => {
  it("leave what fits the class as it is alone", async () => {
    const setup = setUp({ autoSchema: {} });
    setup.cluster.beforeEnsure = () => Promise.reject(new ShoalError("unavailable", "the coordinator is away"));
    const items = [
      withProperties("Car", { unseen: null }),
      withProperties("Car", { news: 1 }),
      input("Thing"),
      input("Bus"),
    ];
    expect(await batch(setup, items)).toEqual([
      "stored",
      "the coordinator is away",
      "the coordinator is away",
      "stored",
    ]);
    expect(await refusal(setup.ingest.createObject(input("Thing"), setup.context))).toBe(
      "unavailable: the coordinator is away",
    );
  });
});
