import type { ClassDefinition, Json, JsonObject } from "@shoal/model";
import { describe, expect, it } from "vitest";
import { EnabledModules } from "./enabled-modules.js";
import type { Module } from "./module.js";
import { TEXT_CLASS_DEFAULTS, TEXT_PROPERTY_DEFAULTS } from "./text/text-config.js";

const asked: ClassDefinition[] = [];

const VECTORIZER = {
  name: "words",
  vectorizer: {},
  classConfig: {
    classDefaults: { ...TEXT_CLASS_DEFAULTS, strategy: "mean" },
    propertyDefaults: TEXT_PROPERTY_DEFAULTS,
    check: async (definition: ClassDefinition) => void asked.push(definition),
  },
} as unknown as Module;

const { classRules } = new EnabledModules([VECTORIZER, { ...VECTORIZER, name: "other" }]);

/** The class with defaults, as it comes to be checked. */
function classOf(moduleConfig: JsonObject, ofProperty: JsonObject = {}): ClassDefinition {
  return classRules.withDefaults({
    class: "Car",
    moduleConfig,
    properties: [
      { name: "plain", dataType: ["text"] },
      { name: "note", dataType: ["text"], moduleConfig: ofProperty },
    ],
    vectorizer: "words",
  } as unknown as ClassDefinition);
}

describe("settings of a class for its vectorizer", () => {
  it.each<[string, Json, string]>([
    ["vectorizeClassName", "yes", 'true or false, got "yes"'],
    ["vectorizeClassName", 1, "true or false, got 1"],
    ["vectorizeClassName", [true], "true or false, got [true]"],
    ["strategy", 3, 'a text as "mean", got 3'],
    ["strategy", "", 'a text as "mean", got ""'],
    ["strategy", { a: "x".repeat(300) }, `a text as "mean", got {"a":"${"x".repeat(194)}…`],
  ])("%s of a class: %j is refused", async (setting, value, rule) => {
    await expect(classRules.check(classOf({ words: { [setting]: value } }))).rejects.toMatchObject({
      code: "invalid",
      message: `module 'words': class 'Car': ${setting} must be ${rule}`,
    });
  });

  it.each<[string, Json]>([
    ["skip", 1],
    ["skip", "true"],
    ["vectorizePropertyName", "x"],
    ["vectorizePropertyName", {}],
  ])("%s of a property: %j is refused", async (setting, value) => {
    await expect(classRules.check(classOf({}, { words: { [setting]: value } }))).rejects.toMatchObject({
      code: "invalid",
      message: `module 'words': property 'note' of class 'Car': ${setting} must be true or false, got ${JSON.stringify(value)}`,
    });
  });

  it("are left to the module when they are of the right type, null, or not its own", async () => {
    for (const definition of [
      classOf({}),
      classOf({ words: { vectorizeClassName: false, strategy: "max" } }, { words: { skip: true } }),
      classOf({ words: { vectorizeClassName: null, strategy: null } }, { words: { skip: null } }),
      classOf({ words: { unknown: 1, toString: 2 } }, { words: { strategy: 3 } }),
      classOf({ other: { vectorizeClassName: "yes" }, more: 1 }, { other: { skip: 1 } }),
    ]) {
      asked.length = 0;
      await classRules.check(definition);
      expect(asked).toEqual([definition]);
    }
  });

  it("are checked before the module is asked", async () => {
    asked.length = 0;
    await expect(classRules.check(classOf({ words: { strategy: 1 } }))).rejects.toThrow("strategy");
    expect(asked).toEqual([]);
  });
});
