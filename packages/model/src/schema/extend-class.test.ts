import { describe, expect, it } from "vitest";
import { refusal } from "../testing/refusal.js";
import type { ClassDefinition } from "./class-definition.js";
import { extendClass } from "./extend-class.js";
import { DEFAULT_SCHEMA_LIMITS } from "./schema-limits.js";

const property = (name: string, ...dataType: string[]) => ({ name, dataType });
const car = {
  class: "Car",
  properties: [property("name", "text"), property("wheels", "int")],
} as unknown as ClassDefinition;
const bus = { class: "Bus", properties: null } as unknown as ClassDefinition;
const schema = [bus, car];

function extend(...properties: ReturnType<typeof property>[]): ClassDefinition {
  return extendClass(car, properties, schema, DEFAULT_SCHEMA_LIMITS);
}

describe("extendClass", () => {
  it("gives the same class when it has everything", () => {
    expect(extend()).toBe(car);
    expect(extend(property("wheels", "int"), property("name", "text"))).toBe(car);
  });

  it("adds what is missing behind the rest, once", () => {
    const extended = extend(property("name", "text"), property("buses", "Bus"), property("buses", "Bus"));
    expect(extended).toEqual({ ...car, properties: [...(car.properties ?? []), property("buses", "Bus")] });
    expect(extendClass(bus, [property("a", "Bus")], schema, DEFAULT_SCHEMA_LIMITS).properties).toHaveLength(1);
  });

  it.each([
    [[property("name", "string")], "conflict: property 'name' of class 'Car' has the data type [text], not [string]"],
    [
      [property("x", "Bus"), property("x", "Bus", "Car")],
      "conflict: property 'x' of class 'Car' has the data type [Bus], not [Bus, Car]",
    ],
    [
      [property("id", "int")],
      "invalid: 'id' is a reserved property name: it means something else in answers and filters",
    ],
    [[property("x")], "invalid: Data type of property 'x' is invalid; dataType must have at least one element"],
    [
      [property("x", "Van")],
      "invalid: Data type of property 'x' is invalid; could not find class 'Van' in the schema: create it with POST /v1/schema first",
    ],
  ])("refuses %j", (properties, message) => {
    expect(refusal(() => extend(...properties))).toBe(message);
  });

  it("refuses more properties than the limit", () => {
    const limits = { classesMax: 1, propertiesPerClassMax: 2 };
    expect(refusal(() => extendClass(car, [property("a", "int")], schema, limits))).toBe(
      "invalid: class 'Car' would have 3 properties, at most 2 are allowed (SCHEMA_CLASS_PROPERTIES_MAX)",
    );
    expect(
      refusal(() => extendClass(car, [property("name", "text")], schema, { ...limits, propertiesPerClassMax: 1 })),
    ).toBe("accepted");
  });
});
