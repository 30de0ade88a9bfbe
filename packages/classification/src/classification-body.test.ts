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

const GIVEN = { class: "A", classifyProperties: ["next"], basedOnProperties: ["name"] };

it.each([
  ["a type", { type: "x".repeat(256) }, "member 'type' has 256 characters, at most 255 are allowed"],
  [
    "settings",
    { type: "foo", settings: { x: "y".repeat(4_096) } },
    "member 'settings' has 4104 characters as JSON, at most 4096 are allowed",
  ],
  [
    "a property that is named twice",
    { classifyProperties: ["next", "n", "next"] },
    `member 'classifyProperties' has "next" twice`,
  ],
])("S10: bounds what is stored of a request: %s", (_, given, message) => {
  expect(() => readClassificationBody({ ...GIVEN, ...given })).toThrow(message);
});

it("S10: takes the longest type and settings", () => {
  const body = { ...GIVEN, type: "x".repeat(255), settings: { x: "y".repeat(4_088) } };
  expect(readClassificationBody(body)).toMatchObject(body);
});

it.each([
  ["knn", { K: 1, k: 2 }, ["'settings.K' is unknown and was ignored, did you mean 'k'?"]],
  ["zeroshot", { k: 2 }, ["'settings.k' is unknown and was ignored"]],
])("U1: %s tells of settings that it does not read", (type, settings, worded) => {
  const warnings = new RequestWarnings();
  readClassificationBody({ ...GIVEN, type, settings }, warnings);
  expect(warnings.worded).toEqual(worded);
});
