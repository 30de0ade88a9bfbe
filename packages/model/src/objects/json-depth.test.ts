import { expect, it } from "vitest";
import { isNestedDeeper } from "./json-depth.js";

it("is found at any depth, in lists and objects", () => {
  expect(isNestedDeeper(JSON.parse("[[1],2]"), 2)).toBe(false);
  expect(isNestedDeeper(JSON.parse("[[1],2]"), 1)).toBe(true);
  expect(isNestedDeeper(JSON.parse('{"a":1,"b":[{"c":null}]}'), 3)).toBe(false);
  expect(isNestedDeeper(JSON.parse('{"a":1,"b":[{"c":null}]}'), 2)).toBe(true);
  for (const one of [null, 1, "[[", true]) expect(isNestedDeeper(one, 0)).toBe(false);
  expect(isNestedDeeper(JSON.parse("[".repeat(250_000) + "]".repeat(250_000)), 200)).toBe(true);
});
