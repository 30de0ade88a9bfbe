import { RequestWarnings } from "@shoal/model";
import { expect, it } from "vitest";
import { readClassificationBody } from "./classification-body.js";

it("U1: tells of members without effect, in filters and settings, too", () => {
  const warnings = new RequestWarnings();
  const body = {
    class: "Article",
    clas: "x",
    settings: { k: 3, kk: 4 },
    filters: {
      sourceWhere: { operator: "And", operands: [{ PATH: ["a"], operator: "Equal", valueInt: 1, valueInteger: 1 }] },
      where: {},
    },
  };
  readClassificationBody(body, warnings);
  expect(warnings.worded).toEqual([
    "'clas' is unknown and was ignored, did you mean 'class'?",
    "'filters.where' is unknown and was ignored",
    "'filters.sourceWhere.operands[].valueInteger' is unknown and was ignored",
    "'settings.kk' is unknown and was ignored, did you mean 'k'?",
  ]);
  const silent = new RequestWarnings();
  readClassificationBody({ class: "A", type: "contextual", settings: { any: 1 }, error: "", meta: {} }, silent);
  expect(silent.isEmpty).toBe(true);
});
