import { type ClassDefinition, DEFAULT_WHERE_LIMITS, RequestWarnings } from "@shoal/model";
import { type Classifier, EnabledModules, type Module } from "@shoal/module-api";
import { expect, it } from "vitest";
import { parseClassification } from "./parse-classification.js";

const ITEM = {
  class: "Item",
  properties: [
    { name: "text", dataType: ["text"] },
    { name: "label", dataType: ["Label"] },
  ],
} as unknown as ClassDefinition;
const classifier = {
  type: "wise",
  settings: () => ({ depth: 3, width: 2 }),
  usesTrainingSet: false,
} as Partial<Classifier> as Classifier;
const modules = new EnabledModules([{ name: "m", classifiers: [classifier] } as Partial<Module> as Module]);

it.each([
  [
    "wise",
    { depth: 1, deepth: 2, Width: 1 },
    [
      "'settings.deepth' is unknown and was ignored, did you mean 'depth'?",
      "'settings.Width' is unknown and was ignored, did you mean 'width'?",
    ],
  ],
  // Only those who know the type know what its settings are.
  ["contextual", { any: 1 }, []],
])("U1: the settings of a module's type %s", (type, settings, worded) => {
  const warnings = new RequestWarnings();
  const body = { type, class: "Item", classifyProperties: ["label"], basedOnProperties: ["text"], settings };
  const rules = { classOf: () => ITEM, modules, whereLimits: DEFAULT_WHERE_LIMITS, warnings };
  parseClassification(body, rules);
  expect(warnings.worded).toEqual(worded);
});
