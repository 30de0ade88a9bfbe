import { JsonNumber } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { BATCH_BODY } from "./json-size.js";
import { parseJson, scanJson } from "./parse-json.js";

const MIB = 1024 * 1024;

function parse(text: string): unknown {
  return parseJson(Buffer.from(text));
}

describe("parseJson", () => {
  it.each([
    ['{"a":1}}', { a: 1 }],
    ["[1] {", [1]],
    ["null\n", null],
    ['"a"b', "a"],
    ["12 13", 12],
  ])("reads the first value of %s", (text, value) => {
    expect(parse(text)).toEqual(value);
  });

  it.each([
    ["{bad", "line 1, column 2: found 'b', expected a member's name in double quotes or '}', near '{bad'"],
    ['{"a" 1}', `line 1, column 6: found '1', expected ':' behind the member's name, near '{"a" 1}'`],
    ['{"a":1 "b"}', `line 1, column 8: found '"', expected ',' or '}' behind the member's value, near '{"a":1 "b"}'`],
    ["[1 2]", "line 1, column 4: found '2', expected ',' or ']' behind the element, near '[1 2]'"],
    ["[1,]", "line 1, column 4: found ']', expected a value, near '[1,]'"],
    ["]", "line 1, column 1: found ']', expected a value, near ']'"],
    ['{"a":tru}', `line 1, column 9: found '}', expected the word true, near '{"a":tru}'`],
    ['{"a":"\\x"}', `line 1, column 8: found 'x', expected one of the letters " \\ / b f n r t u behind the backslash`],
    ['{"a":"\\u12g4"}', "line 1, column 11: found 'g', expected four hexadecimal digits behind \\u, near"],
    [
      '{"a":"\n"}',
      "line 1, column 7: found '\\n', expected an escape such as \\n in place of a control character, near",
    ],
    ["[-a]", "line 1, column 3: found 'a', expected a digit of the number, near '[-a]'"],
    ["'x'", "line 1, column 1: found ''', expected a value, near ''x''"],
    ['{"a":[1,{"b"', "line 1, column 13: found the end of the text, expected ':' behind the member's name, near"],
    ['"abc', `line 1, column 5: found the end of the text, expected '"' at the end of the string, near '"abc'`],
    ["NaN", "line 1, column 1: found 'N', expected a value, near 'NaN'"],
    ['{\n  "a": 1,\n  "é😀": x\n}', "line 3, column 9: found 'x', expected a value, near '{\\n"],
    [`{"a": "${"é".repeat(40)}" 1`, `expected ',' or '}' behind the member's value, near '…${"é".repeat(11)}" 1'`],
    ['{"a":\u0000}', `line 1, column 6: found '\\u0000', expected a value, near '{"a":\\u0000}'`],
    [`[${" ".repeat(5 * MIB)}x]`, `at byte ${1 + 5 * MIB}: found 'x', expected a value or ']', near '…`],
  ])("U5: says where, what was found and what was expected: case %#", (text, problem) => {
    expect(() => parse(text)).toThrow(
      /^the request body is not valid JSON: (line \d+, column \d+|at byte \d+): found /,
    );
    expect(() => parse(text)).toThrow(problem);
  });

  it("bounds the depth, whether the body is small or large, complete or not", () => {
    const nested = (depth: number, open = "[", close = "]"): string => open.repeat(depth) + close.repeat(depth);
    expect(parse(nested(200))).toBeTruthy();
    for (const text of [
      nested(201),
      nested(5_000),
      `{"a":${'{"a":'.repeat(300)}1${"}".repeat(301)}`,
      nested(1_000_000),
      "[".repeat(16 * MIB),
      `{"s":"${"]".repeat(300)}","a":${"[".repeat(3 * MIB)}`,
    ]) {
      const started = process.cpuUsage();
      expect(() => parse(text), text.slice(0, 20)).toThrow(/deeper than 200 levels/);
      const { user, system } = process.cpuUsage(started);
      expect(user + system, "CPU µs").toBeLessThan(1_000_000);
    }
  });

  it("does not take brackets inside of strings for depth", () => {
    const text = JSON.stringify({ s: `${"[".repeat(2 * MIB)}\\"`, t: '"[{'.repeat(10) });
    expect(parse(text)).toEqual(JSON.parse(text));
  });
});

describe("parseJson with literals", () => {
  const exactly = (text: string): unknown => parseJson(Buffer.from(text), "all");

  it("keeps literals that matter, and is JSON.parse otherwise", () => {
    expect(exactly('{"a":1.0,"b":[1e2,1.5,-7,9007199254740992],"c":1e999} x')).toEqual({
      a: new JsonNumber("1.0"),
      b: [new JsonNumber("1e2"), 1.5, -7, new JsonNumber("9007199254740992")],
      c: new JsonNumber("1e999"),
    });
    expect(exactly("\n 1.0")).toEqual(new JsonNumber("1.0"));
    const twice = exactly('{"a":1,"a":{"__proto__":2.0}}') as { a: object };
    expect(Object.keys(twice.a)).toEqual(["__proto__"]);
    expect(Object.values(twice.a)).toEqual([new JsonNumber("2.0")]);
  });

  it("counts what a body holds", () => {
    const text = `{${'"":1,'.repeat(50_001)}"":1}`;
    for (const kept of ["nothing", "all"] as const) {
      expect(() => parseJson(Buffer.from(text), kept)).toThrow("the request body has more than 50000 members");
    }
  });

  it("keeps only long integers where only these are asked for", () => {
    const text = '{"a":9007199254740993,"b":[1.0,1e30,-12345678901234567890]}';
    expect(parseJson(Buffer.from(text), "integers")).toEqual({
      a: new JsonNumber("9007199254740993"),
      b: [1, 1e30, new JsonNumber("-12345678901234567890")],
    });
    const plain = { a: [1, 2.5, "9007199254740993"] };
    expect(parseJson(Buffer.from(JSON.stringify(plain)), "integers")).toEqual(plain);
  });
});

describe("scanJson", () => {
  it("agrees with JSON.parse on random texts", () => {
    const seed = Number(process.env.SHOAL_TEST_SEED ?? 20_261_124);
    const { below } = seededRandom(seed);
    const pieces = [
      "{",
      "}",
      "[",
      "]",
      ":",
      ",",
      '"a"',
      '"\\u00e9"',
      '"\\',
      "1",
      "-0.5e+3",
      "01",
      "true",
      "nul",
      " ",
      "\n",
      "null",
    ];
    for (let i = 0; i < 50_000; i++) {
      const text = Array.from({ length: 1 + below(9) }, () => pieces[below(pieces.length)]).join("");
      let isJson = true;
      try {
        JSON.parse(text);
      } catch {
        isJson = false;
      }
      const scan = scanJson(Buffer.from(text), BATCH_BODY);
      if (isJson && !("end" in scan)) expect.fail(`seed ${seed}: ${text}: ${scan.problem}`);
      if ("end" in scan) {
        try {
          JSON.parse(text.slice(0, scan.end));
        } catch {
          expect.fail(`seed ${seed}: the first value of ${text} does not end at ${scan.end}`);
        }
      }
    }
  });
});
