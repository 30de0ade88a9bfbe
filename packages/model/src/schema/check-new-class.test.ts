import { describe, expect, it } from "vitest";
import { refusal } from "../testing/refusal.js";
import { SPEC_PROFILE } from "../wire-profile.js";
import type { ClassDefinition } from "./class-definition.js";
import { NO_MODULES } from "./module-class-rules.js";
import { checkNewClass, parseClass } from "./parse-class.js";
import { DEFAULT_SCHEMA_LIMITS } from "./schema-limits.js";

const settings = { profile: SPEC_PROFILE, defaultVectorizer: "none", nodeCount: 1, modules: NO_MODULES };

function parse(body: unknown, schema: readonly ClassDefinition[] = []): ClassDefinition {
  return parseClass(body, schema, settings);
}

describe("checkNewClass", () => {
  const check = (definition: ClassDefinition, schema: readonly ClassDefinition[], limits = DEFAULT_SCHEMA_LIMITS) =>
    checkNewClass(definition, schema, limits);

  it("repeats the checks that depend on the schema", () => {
    const bar = parse({ class: "Bar" });
    const foo = parse({ class: "Foo", properties: [{ name: "bar", dataType: ["Bar"] }] }, [bar]);
    expect(refusal(() => check(foo, [bar]))).toBe("accepted");
    expect(refusal(() => check(foo, []))).toContain(
      "invalid: property 'bar': invalid dataType: could not find class 'Bar' in the schema: create it with POST /v1/schema first",
    );
    expect(refusal(() => check(bar, [bar]))).toContain("already used");
    expect(refusal(() => check(parse({ class: "BarAdditional" }), [bar]))).toContain("would collide");
  });

  it("refuses what goes beyond the limits", () => {
    const limits = { classesMax: 1, propertiesPerClassMax: 1 };
    const foo = parse({ class: "Foo", properties: [{ name: "a", dataType: ["int"] }] });
    const wide = parse({ class: "Foo", properties: ["a", "b"].map((name) => ({ name, dataType: ["int"] })) });
    expect(refusal(() => check(foo, [], limits))).toBe("accepted");
    expect(refusal(() => check(foo, [parse({ class: "Bar" })], limits))).toBe(
      "invalid: the schema would have 2 classes, at most 1 are allowed (SCHEMA_CLASSES_MAX)",
    );
    expect(refusal(() => check(wide, [], limits))).toBe(
      "invalid: class 'Foo' would have 2 properties, at most 1 are allowed (SCHEMA_CLASS_PROPERTIES_MAX)",
    );
  });
});
