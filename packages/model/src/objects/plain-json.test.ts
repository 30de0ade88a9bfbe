import { describe, expect, it } from "vitest";
import { JsonNumber } from "./json-number.js";
import { plainJson, plainJsonObject } from "./plain-json.js";

describe("plainJson", () => {
  it("copies JSON and turns literals into float64", () => {
    const value = { a: [1, "x", null, true, new JsonNumber("1.0")], constructor: { b: new JsonNumber("1e2") } };
    expect(JSON.stringify(plainJson(value, "x"))).toBe('{"a":[1,"x",null,true,1],"constructor":{"b":100}}');
  });

  it.each<[unknown, string]>([
    [JSON.parse('{"a":[{"__proto__":{"polluted":1}}]}'), "the key '__proto__' is not allowed in x"],
    [[new JsonNumber("1e999")], "x holds the number '1e999', which is beyond the range of a float64"],
    [JSON.parse("[".repeat(101) + "]".repeat(101)), "x is nested deeper than 100 levels"],
    [JSON.parse("[".repeat(100_000) + "]".repeat(100_000)), "x is nested deeper than 100 levels"],
  ])("refuses case %#", (value, message) => {
    expect(() => plainJson(value, "x")).toThrow(message);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it("wants an object where one is due", () => {
    expect(plainJsonObject({}, "x")).toEqual({});
    expect(() => plainJsonObject([], "x")).toThrow("x must be an object, got a list");
    expect(() => plainJsonObject(new JsonNumber("1"), "x")).toThrow("x must be an object, got the number 1");
  });
});
