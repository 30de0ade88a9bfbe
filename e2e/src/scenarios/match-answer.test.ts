import { describe, expect, it } from "vitest";
import { checkMatchers, differences } from "./match-answer.js";

const ID = "0b7a2c94-2a1c-4be0-8d7a-5f0d4ce1a001";

describe("what is as expected", () => {
  it.each([
    [{ a: [1, null, "x", true] }, { a: [1, null, "x", true] }],
    ["<any>", null],
    [{ a: "<absent>" }, {}],
    ["<uuid>", ID],
    ["<time>", Date.now()],
    ["<contains b c>", "ab cd"],
    ["<matches ^a.c$>", "a\nc"],
    ["<near 0.3>", 0.1 + 0.2],
    ["<above 2>", 3],
    ["<at least 3>", 3],
    ["<length 2>", [1, 2]],
    ["<is <b>>", "<b>"],
    [
      { a: 1, "<others>": "<any>" },
      { a: 1, b: 2 },
    ],
    [
      [1, "<others>"],
      [1, 2, 3],
    ],
    [
      ["<any order>", { a: 1 }, { a: 2 }],
      [{ a: 2 }, { a: 1 }],
    ],
    [
      ["<any order>", 3, "<others>"],
      [1, 3],
    ],
  ])("%j takes %j", (expected, got) => {
    expect(differences(expected, got)).toEqual([]);
  });
});

describe("what is not", () => {
  it.each([
    [1, 2, "the whole: expected 1, got 2"],
    ["1", 1, 'the whole: expected "1", got 1'],
    [null, undefined, "the whole: expected null, got nothing"],
    [{ a: { b: [1] } }, { a: { b: [2] } }, "a.b.0: expected 1, got 2"],
    [{ a: 1 }, { a: 1, b: 2 }, "b: not expected, got 2"],
    [{ toString: "<any>" }, {}, 'toString: expected "<any>", got nothing'],
    [[1], [1, 2], "the whole: expected 1 elements, got 2: [1,2]"],
    [[1, 2, "<others>"], [1], "the whole: expected at least 2 elements, got 1: [1]"],
    [["<any order>", 1, 1], [1, 2], "the whole: expected 1 among [1,2]"],
    [["<any order>", 1], [1, 2], "the whole: not expected: 2"],
    [{ a: 1 }, [], "the whole: expected an object, got []"],
    [[], {}, "the whole: expected a list, got {}"],
    [{ a: "<absent>" }, { a: null }, 'a: expected "<absent>", got null'],
    ["<any>", undefined, 'the whole: expected "<any>", got nothing'],
    ["<uuid>", ID.toUpperCase(), `the whole: expected "<uuid>", got "${ID.toUpperCase()}"`],
    ["<time>", 5, 'the whole: expected "<time>", got 5'],
    ["<above 3>", 3, 'the whole: expected "<above 3>", got 3'],
    ["<length 2>", 2, 'the whole: expected "<length 2>", got 2'],
    ["<contains x>", 5, 'the whole: expected "<contains x>", got 5'],
  ])("%j refuses %j", (expected, got, line) => {
    expect(differences(expected, got)).toContain(line);
  });
});

it("a text that looks like a matcher and is none is a mistake of the scenario", () => {
  expect(() => checkMatchers({ a: ["<contain x>"] }, "here")).toThrow(/^here: <contain x> is no matcher; there are </);
  expect(() => checkMatchers({ a: ["<contains x>", "<others>", "a < b > c"] }, "here")).not.toThrow();
});
