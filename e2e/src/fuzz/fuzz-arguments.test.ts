import { expect, it } from "vitest";
import { readFuzzArguments } from "./fuzz-arguments.js";

it("reads what stands behind npm run fuzz", () => {
  expect(readFuzzArguments(["rest"])).toEqual({ target: "rest", seconds: 600, stallMs: 200, seed: undefined });
  expect(readFuzzArguments(["rest", "--seconds", "60", "--stall-ms", "2000", "--seed", "7"])).toEqual({
    target: "rest",
    seconds: 60,
    stallMs: 2_000,
    seed: 7,
  });
  expect(readFuzzArguments(["graphql", "--seed", "3"])).toEqual({
    target: "graphql",
    seconds: 600,
    stallMs: 200,
    seed: 3,
  });
});

it.each([
  [],
  ["soap"],
  ["rest", "--seconds"],
  ["rest", "--seconds", "0"],
  ["rest", "--stall-ms", "0"],
  ["rest", "--seed", "x"],
  ["rest", "--what", "1"],
])("refuses %j", (...words) => expect(readFuzzArguments(words)).toBeUndefined());
