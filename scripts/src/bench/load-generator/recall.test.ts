import { expect, it } from "vitest";
import { recallOf } from "./recall.js";

it("recall is the share of the exact neighbours that were found", () => {
  expect(recallOf([1, 2, 3, 4], [4, 3, 2, 1])).toBe(1);
  expect(recallOf([1, 2, 9, 8], [1, 2, 3, 4])).toBe(0.5);
  expect(recallOf([1, 1, 1, 1], [1, 2, 3, 4])).toBe(0.25);
  expect(recallOf([], [1])).toBe(0);
  expect(recallOf(["a"], [])).toBe(1);
});
