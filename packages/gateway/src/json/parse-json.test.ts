import { JsonNumber } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { parseJson, parseJsonExactly } from "./parse-json.js";
import { scanJson } from "./scan-json.js";

const MIB = 1024 * 1024;

function parse(text: string): unknown {
  return parseJson(Buffer.from(text), "body").value;
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
    ["{bad", "invalid character 'b' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b"}', "invalid character '\"' after object key:value pair"],
    ["[1 2]", "invalid character '2' after array element"],
    ["[1,]", "invalid character ']' looking for beginning of value"],
    ["]", "invalid character ']' looking for beginning of value"],
    ['{"a":tru}', "invalid character '}' in literal true (expecting 'e')"],
    ['{"a":"\\x"}', "invalid character 'x' in string escape code"],
    ['{"a":"\\u12g4"}', "invalid character 'g' in \\u hexadecimal character escape"],
    ['{"a":"\n"}', "invalid character '\\n' in string literal"],
    ["[-a]", "invalid character 'a' in numeric literal"],
    ["'x'", "invalid character '\\'' looking for beginning of value"],
    ['{"a":[1,{"b"', "unexpected EOF"],
    ['"abc', "unexpected EOF"],
    ["NaN", "invalid character 'N' looking for beginning of value"],
  ])("says what is wrong with %s", (text, problem) => {
    expect(() => parse(text)).toThrow(`parsing body body from "" failed, because ${problem}`);
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
      expect(() => parse(text), text.slice(0, 20)).toThrow("exceeded max depth");
      const { user, system } = process.cpuUsage(started);
      expect(user + system, "CPU µs").toBeLessThan(1_000_000);
    }
  });

  it("does not take brackets inside of strings for depth", () => {
    const text = JSON.stringify({ s: `${"[".repeat(2 * MIB)}\\"`, t: '"[{'.repeat(10) });
    expect(parse(text)).toEqual(JSON.parse(text));
  });
});

describe("parseJsonExactly", () => {
  it("keeps literals that matter, and is JSON.parse otherwise", () => {
    expect(parseJsonExactly('{"a":1.0,"b":[1e2,1.5,-7,9007199254740992],"c":1e999} x')).toEqual({
      a: new JsonNumber("1.0"),
      b: [new JsonNumber("1e2"), 1.5, -7, new JsonNumber("9007199254740992")],
      c: new JsonNumber("1e999"),
    });
    const twice = parseJsonExactly('{"a":1,"a":{"__proto__":2}}') as { a: object };
    expect(Object.keys(twice.a)).toEqual(["__proto__"]);
  });
});

describe("scanJson", () => {
  it("agrees with JSON.parse on random texts", () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
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
      const scan = scanJson(Buffer.from(text), 200);
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
