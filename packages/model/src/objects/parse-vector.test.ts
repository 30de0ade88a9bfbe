import { describe, expect, it } from "vitest";
import { invalidText } from "../testing/refusal.js";
import { JsonNumber } from "./json-number.js";
import { checkDimensions, isVectorMissing, parseVector } from "./parse-vector.js";
import { parseVectorWeights } from "./vector-weights.js";

describe("parseVector", () => {
  it("reads numbers and literals as float32", () => {
    expect(parseVector([0.1, -0, new JsonNumber("1.0"), 3.4e38, 1e-50])).toEqual(
      Float32Array.of(0.1, -0, 1, 3.4e38, 0),
    );
    expect(parseVector(Array.from({ length: 65_535 }, () => 1))).toHaveLength(65_535);
    expect(parseVector([0, 0])).toEqual(Float32Array.of(0, 0));
  });

  it("gives a Float32Array back as it is", () => {
    const vector = Float32Array.of(1, 2);
    expect(parseVector(vector)).toBe(vector);
  });

  const element = (index: number, got: string) =>
    `element ${index} of the vector must be a number within the range of float32, but got ${got}`;

  it.each<[unknown, string]>([
    [[1, Number.NaN], element(1, "the number NaN")],
    [[Number.POSITIVE_INFINITY], element(0, "a number beyond float64")],
    [[1, 2, 1e39], element(2, "the number 1e+39")],
    [[-1e39], element(0, "the number -1e+39")],
    [[3.4028235677973366e38], element(0, "the number 3.4028235677973366e+38")],
    [[new JsonNumber("1e999")], element(0, "the number 1e999")],
    [["1"], element(0, 'the string "1"')],
    [[1, null], element(1, "null")],
    [[undefined], element(0, "null")],
    [[[1]], element(0, "a list")],
    [[{}], element(0, "an object")],
    [[true], element(0, "true")],
    [Float32Array.of(1, Number.NaN), element(1, "the number NaN")],
    [Float32Array.of(Number.NEGATIVE_INFINITY), element(0, "a number beyond float64")],
    [[], "a vector has from 1 to 65535 dimensions, got 0"],
    [new Array(65_536).fill(1), "a vector has from 1 to 65535 dimensions, got 65536"],
    ["abc", 'the vector must be a list of numbers, but got the string "abc"'],
    [{ length: 1, 0: 1 }, "the vector must be a list of numbers, but got an object"],
    [null, "the vector must be a list of numbers, but got null"],
  ])("refuses case %#", (value, message) => {
    expect(invalidText(() => parseVector(value))).toBe(message);
  });

  it("knows what counts as nothing sent", () => {
    expect([undefined, null, [], new Float32Array(0)].map(isVectorMissing)).toEqual([true, true, true, true]);
    expect([[1], "", {}, 0, false].map(isVectorMissing)).toEqual([false, false, false, false, false]);
  });

  it("names both lengths and the class", () => {
    expect(invalidText(() => checkDimensions("Car", 3, 3))).toBe("accepted");
    expect(invalidText(() => checkDimensions("Car", 2, 3))).toBe(
      "class 'Car' has vectors of 3 dimensions, got one of 2 (vector lengths don't match: 2 vs 3): use a vector of the same model, or a class of its own",
    );
  });
});

describe("parseVectorWeights", () => {
  it("takes maps of strings", () => {
    expect(parseVectorWeights({ a: "1", constructor: "w" })).toEqual({ a: "1", constructor: "w" });
    expect(parseVectorWeights(undefined)).toBeUndefined();
    expect(parseVectorWeights(null)).toBeUndefined();
  });

  it.each<[unknown, string]>([
    [{ a: 1 }, "vector weights: the value of 'a' must be a string, got the number 1"],
    ["x", 'vector weights: must be an object whose values are strings, got the string "x"'],
    [[1], "vector weights: must be an object whose values are strings, got a list"],
    [JSON.parse('{"__proto__":"x"}'), "vector weights: the key '__proto__' is not allowed"],
  ])("refuses %j", (value, message) => {
    expect(invalidText(() => parseVectorWeights(value))).toBe(message);
  });
});
