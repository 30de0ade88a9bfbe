import { describe, expect, it } from "vitest";
import { refusal } from "../testing/refusal.js";
import { SPEC_PROFILE } from "../wire-profile.js";
import { NO_MODULES } from "./module-class-rules.js";
import { parseClass } from "./parse-class.js";
import { checkNewProperty, parseProperty } from "./parse-property.js";

const settings = { profile: SPEC_PROFILE, defaultVectorizer: "none", nodeCount: 1, modules: NO_MODULES };
const foo = parseClass({ class: "Foo", properties: [{ name: "body", dataType: ["text"] }] }, [], settings);
const other = parseClass({ class: "AggregateFoox" }, [], settings);

describe("parseProperty", () => {
  it("gives the property as it is answered, name normalised, without module defaults", () => {
    const body = { name: "Title", dataType: ["Foo"], description: "d", indexInverted: true, moduleConfig: { m: {} } };
    expect(JSON.stringify(parseProperty(body, "Foo", [foo], NO_MODULES))).toBe(
      '{"dataType":["Foo"],"description":"d","indexInverted":true,"moduleConfig":{"m":{}},"name":"title"}',
    );
    expect(JSON.stringify(parseProperty({ name: "n", dataType: ["int[]"] }, "Foo", [foo], NO_MODULES))).toBe(
      '{"dataType":["int[]"],"name":"n"}',
    );
    // A class that is listed twice is kept so: clients compare what they get with what they sent.
    expect(parseProperty({ name: "n", dataType: ["Foo", "Foo"] }, "Foo", [foo], NO_MODULES).dataType).toEqual([
      "Foo",
      "Foo",
    ]);
  });

  it("U1: refuses a description beyond 64 Ki characters", () => {
    const body = { name: "n", dataType: ["int"], description: "x".repeat(65_537) };
    expect(refusal(() => parseProperty(body, "Foo", [foo], NO_MODULES))).toBe(
      "invalid: the description of property 'n' of class 'Foo' has 65537 characters, at most 65536 are allowed",
    );
  });

  it.each([
    ["foo", { name: "x", dataType: ["int"] }, "invalid: could not find class 'foo' in the schema: did you mean 'Foo'?"],
    [
      "Foo",
      { name: "a-b", dataType: ["int"] },
      "invalid: 'a-b' is not a valid property name: it must begin with a letter or _, followed by letters A to Z, digits and _ only",
    ],
    [
      "Foo",
      { name: "id", dataType: ["int"] },
      "invalid: 'id' is a reserved property name: it means something else in answers and filters",
    ],
    [
      "Foo",
      { name: "x", dataType: [] },
      "invalid: Data type of property 'x' is invalid; dataType must have at least one element",
    ],
    [
      "Foo",
      { name: "x", dataType: ["strng"] },
      `invalid: Data type of property 'x' is invalid; Unknown primitive data type "strng": did you mean 'string'?`,
    ],
    [
      "Foo",
      { name: "__typename", dataType: ["int"] },
      "invalid: '__typename' is not a valid property name: GraphQL keeps names that begin with '__' for itself",
    ],
    [
      "Foo",
      { name: 1 },
      "malformed: the request body cannot be read: member 'name' must be a string, got the number 1",
    ],
    [
      "Foo",
      { name: "x", dataType: "int" },
      `malformed: the request body cannot be read: member 'dataType' must be a list of strings, got the string "int"`,
    ],
  ])("for class %s refuses %j", (className, body, message) => {
    expect(refusal(() => parseProperty(body, className, [foo], NO_MODULES))).toBe(message);
  });

  it("leaves it to the coordinator whether a property of that very name is in the way", () => {
    const again = parseProperty({ name: "Body", dataType: ["int"] }, "Foo", [foo], NO_MODULES);
    expect(refusal(() => checkNewProperty("Foo", again, [foo]))).toBe(
      "invalid: Name 'body' already in use as a property name for class 'Foo'",
    );
  });

  it("refuses a property whose GraphQL type would collide, naming both", () => {
    const clash = parseClass({ class: "AggregateFooxObj" }, [other], settings);
    expect(refusal(() => parseProperty({ name: "x", dataType: ["int"] }, "Foo", [foo, clash], NO_MODULES))).toBe(
      "invalid: the GraphQL type 'AggregateFooxObj' of property 'x' of class 'Foo' would collide with that of class 'AggregateFooxObj'",
    );
  });
});
