import { expect, test } from "vitest";
import { readFaultArguments } from "./fault-arguments.js";

test.each([
  [[], { named: [], size: "long", seed: undefined }],
  [["R1"], { named: ["R1"], size: "long", seed: undefined }],
  [["R1", "R3", "--short"], { named: ["R1", "R3"], size: "short", seed: undefined }],
  [["--seed", "7", "R13"], { named: ["R13"], size: "long", seed: 7 }],
  [["R13", "--seed", "7"], { named: ["R13"], size: "long", seed: 7 }],
  [["R99"], undefined],
  [["--long"], undefined],
  [["R1", "--seed"], undefined],
  [["--seed", "x"], undefined],
])("%j", (words, expected) => {
  expect(readFaultArguments(words)).toEqual(expected);
});
