import { ShoalError } from "@shoal/model";
import { describe, expect, it } from "vitest";
import { input, refusal, setUp } from "../ingest-setup.fixture.js";
import { AUTO, batch, definition, typesOf, withProperties } from "./auto-schema.fixture.js";

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
        'requires an integer of at most 64 bits, without fraction or exponent, but got the string "x"',
    );
    expect(await refusal(setup.ingest.createObject(withProperties("Car", { wheels: null }), setup.context))).toContain(
      "invalid: invalid object: invalid integer property 'wheels' on class 'Car': requires an integer of at most 64 bits, without fraction or exponent, but got null",
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
    expect(await batch(setup, [input("Thing"), input("Other")])).toEqual([
      "the schema would have 4 classes, at most 3 are allowed (SCHEMA_CLASSES_MAX)",
      "the schema would have 4 classes, at most 3 are allowed (SCHEMA_CLASSES_MAX)",
    ]);
    expect(await batch(setup, [wide, withProperties("Car", { a: 1 }), withProperties("Car", { b: 1 })])).toEqual([
      "class 'Car' would have 5 properties, at most 4 are allowed (SCHEMA_CLASS_PROPERTIES_MAX)",
      "stored",
      "class 'Car' would have 5 properties, at most 4 are allowed (SCHEMA_CLASS_PROPERTIES_MAX)",
    ]);
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
