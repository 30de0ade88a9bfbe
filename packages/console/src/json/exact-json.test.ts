import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { type ExactJson, member, NumberLiteral, parseExact } from "./exact-json.js";
import { formatJson } from "./format-json.js";

function randomJson(random: () => number, depth: number): unknown {
  const kind = Math.floor(random() * (depth > 3 ? 5 : 7));
  const count = Math.floor(random() * 5);
  switch (kind) {
    case 0:
      return null;
    case 1:
      return random() < 0.5;
    case 2:
      return Math.floor((random() - 0.5) * 2_000_000);
    case 3:
      return (random() - 0.5) * 10 ** Math.floor(random() * 40 - 20);
    case 4:
      return String.fromCodePoint(...Array.from({ length: count }, () => Math.floor(random() * 0xd000)));
    case 5:
      return Array.from({ length: count * 4 }, () => randomJson(random, depth + 1));
    default:
      return Object.fromEntries(
        Array.from({ length: count }, (_, at) => [
          `k${at}${random() < 0.2 ? '"\\\n' : ""}`,
          randomJson(random, depth + 1),
        ]),
      );
  }
}

describe("exact JSON", () => {
  it("formatting changes the blanks only: what is read from it is the same value", () => {
    const random = seededRandom(20_261_120).next;
    for (let round = 0; round < 500; round++) {
      const value = randomJson(random, 0);
      const formatted = formatJson(parseExact(JSON.stringify(value)));
      expect(JSON.parse(formatted)).toEqual(value);
      expect(formatJson(parseExact(formatted))).toBe(formatted);
    }
  });

  it("keeps the digits of numbers", () => {
    for (const text of ["9007199254740993", "1.0", "-0", "1e400", "0.1000000000000000055511151231257827"]) {
      expect(formatJson(parseExact(`{"n":${text}}`))).toBe(`{\n  "n": ${text}\n}`);
    }
  });

  it("keeps members named like those of Object.prototype", () => {
    const value = parseExact('{"__proto__":1,"constructor":2}');
    expect(String(member(value, "__proto__"))).toBe("1");
    expect(String(member(value, "constructor"))).toBe("2");
    expect(member(value, "toString")).toBeUndefined();
  });

  it.each(["", "{", "[1,]", "{a:1}", "01", "1 2", "+1", '"\u0001"', '"\\x"', "nul", "[1 2]", '{"a" 1}', "}"])(
    "refuses %j",
    (text) => {
      expect(() => parseExact(text)).toThrow(SyntaxError);
    },
  );

  it("refuses what is too deep instead of overflowing the stack", () => {
    expect(() => parseExact("[".repeat(100_000))).toThrow(SyntaxError);
  });

  it("wraps vectors and leaves short lists on their line", () => {
    const vector: ExactJson = Array.from({ length: 40 }, (_, at) => new NumberLiteral(`0.${at}12345`));
    const lines = formatJson(vector).split("\n");
    expect(lines.length).toBeLessThan(12);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(90);
    expect(formatJson(parseExact("[1,2,3]"))).toBe("[1, 2, 3]");
  });
});
