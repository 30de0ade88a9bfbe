import { describe, expect, it } from "vitest";
import { NO_MODULES } from "../schema/module-class-rules.js";
import { parseClass } from "../schema/parse-class.js";
import { invalidText } from "../testing/refusal.js";
import { SPEC_PROFILE } from "../wire-profile.js";
import { propertyValidator } from "./property-validator.js";

const settings = { profile: SPEC_PROFILE, defaultVectorizer: "none", nodeCount: 1, modules: NO_MODULES };

describe("PropertyValidator", () => {
  const names = ["title", "constructor", "toString", "_x", "a"];
  const properties = names.map((name) => ({ name, dataType: ["text"] }));
  const definition = parseClass({ class: "C", properties }, [], settings);
  const validator = propertyValidator(definition, "svc");
  const known = `it has ${names.join(", ")}`;
  const unknown = (name: string, advice = known) =>
    `no such prop with name '${name}' found in class 'C' in the schema: ${advice}`;

  it("sorts keys bytewise and keeps inherited names as plain values", () => {
    const parsed = validator.parse({ title: "t", toString: "s", a: "a", _x: "x", constructor: "c" });
    expect(JSON.stringify(parsed)).toBe('{"_x":"x","a":"a","constructor":"c","title":"t","toString":"s"}');
  });

  it("tells nothing sent from an empty object", () => {
    expect(validator.parse(undefined)).toBeUndefined();
    expect(validator.parse(null)).toBeUndefined();
    expect(validator.parse({})).toEqual({});
  });

  it.each([
    ["s.foo"],
    ["Title", "did you mean 'title'?"],
    ["title.x", "did you mean 'title'?"],
    ["hasOwnProperty"],
    ["valueOf"],
    [""],
    ["Ü"],
  ])("refuses the unknown property '%s'", (name, advice?: string) => {
    expect(invalidText(() => validator.parse({ [name]: "x" }))).toBe(unknown(name, advice));
  });

  it("refuses __proto__ by name and touches no prototype", () => {
    const given = JSON.parse('{"title":"t","__proto__":{"polluted":true}}') as unknown;
    expect(invalidText(() => validator.parse(given))).toBe(unknown("__proto__"));
    expect(invalidText(() => validator.parseChanges(given))).toBe(unknown("__proto__"));
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it.each([["x"], [[]], [1], [true]])("refuses properties that are %j", (value) => {
    expect(invalidText(() => validator.parse(value))).toMatch(
      /^the properties of class 'C' must be an object, but got /,
    );
    expect(invalidText(() => validator.parseChanges(value))).toMatch(/must be an object/);
  });

  it("splits changes into values and cleared names", () => {
    expect(validator.parseChanges({ title: null, a: "x" })).toEqual({ set: { a: "x" }, clear: ["title"] });
    expect(validator.parseChanges(undefined)).toEqual({ set: {}, clear: [] });
    expect(invalidText(() => validator.parseChanges({ nope: null }))).toBe(unknown("nope"));
    expect(invalidText(() => validator.parseChanges({ a: 1 }))).toBe(
      "invalid text property 'a' on class 'C': not a string, but the number 1",
    );
  });

  it("is kept with the definition, one for each scheme", () => {
    expect(propertyValidator(definition, "svc")).toBe(validator);
    expect(propertyValidator(definition, "weaviate")).not.toBe(validator);
  });
});
