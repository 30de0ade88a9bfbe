import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { type ByteSource, JsonScanner } from "./json-scanner.js";

/** Hands the text out in pieces of random length. */
function inPieces(text: string, random: () => number): ByteSource {
  const bytes = Buffer.from(text);
  let at = 0;
  return (into, offset) => {
    const length = Math.min(1 + Math.floor(random() * 40), bytes.length - at, into.length - offset);
    bytes.copy(into, offset, at, at + length);
    at += length;
    return length;
  };
}

function scan(json: JsonScanner, peek: unknown): unknown {
  if (Array.isArray(peek)) {
    const out: unknown[] = [];
    json.array((index) => out.push(scan(json, peek[index])));
    return out;
  }
  if (typeof peek === "number") return json.number();
  if (typeof peek === "string") return json.string();
  if (typeof peek === "object" && peek !== null) {
    const entries: [string, unknown][] = [];
    const values = Object.values(peek);
    json.object((key) => entries.push([key, scan(json, values[entries.length])]));
    return Object.fromEntries(entries);
  }
  json.skip();
  return peek;
}

function randomNumber(random: () => number): number {
  const kinds = [
    () => Math.floor(random() * 2 ** 53),
    () => (random() - 0.5) * 10 ** Math.floor(random() * 40 - 20),
    () => Number(((random() - 0.5) * 10).toFixed(Math.floor(random() * 9))),
    () => (random() - 0.5) * Number.MAX_VALUE,
    () => Number.MIN_VALUE * Math.floor(random() * 10),
  ];
  return (kinds[Math.floor(random() * kinds.length)] ?? Math.random)() + 0;
}

function randomString(random: () => number): string {
  const alphabet = ["a", "Z", '"', "\\", "/", "\n", "\u0001", "é", "漢", "😀", "{", "]", ",", ":", " ", "\ud800"];
  const length = Math.floor(random() * (random() < 0.1 ? 500 : 8));
  return Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)] ?? "").join("");
}

function randomValue(random: () => number, depth: number): unknown {
  const kind = Math.floor(random() * (depth === 0 ? 5 : 7));
  if (kind < 2) return randomNumber(random);
  if (kind < 4) return randomString(random);
  if (kind === 4) return [true, false, null][Math.floor(random() * 3)];
  const values = Array.from({ length: Math.floor(random() * 6) }, () => randomValue(random, depth - 1));
  return kind === 5 ? values : Object.fromEntries(values.map((value, index) => [`k${index}"${index}`, value]));
}

describe("JsonScanner", () => {
  const seed = 20261120;

  it(`reads what JSON.parse reads, in any pieces (seed ${seed})`, () => {
    const random = seededRandom(seed).next;
    for (let round = 0; round < 2000; round++) {
      const value = randomValue(random, 3);
      const text = JSON.stringify(value, null, random() < 0.3 ? "\t " : undefined);
      const expected: unknown = JSON.parse(text);
      const json = new JsonScanner(inPieces(text, random), 128);
      expect(scan(json, expected), text).toEqual(expected);
      json.end();
      const skipped = new JsonScanner(inPieces(text, random), 128);
      skipped.skip();
      skipped.end();
    }
  });

  it("reads a short decimal to the same float64 as JSON.parse, bit by bit", () => {
    const random = seededRandom(seed + 1).next;
    const numbers = Array.from({ length: 20_000 }, () =>
      ((random() - 0.5) * 10 ** Math.floor(random() * 6)).toPrecision(1 + Math.floor(random() * 17)),
    );
    const text = `[${numbers.join()},-0,1e5,1E-7,-1.5e+3]`;
    const out: number[] = [];
    const json = new JsonScanner(inPieces(text, random), 128);
    json.array(() => out.push(json.number()));
    expect(out).toStrictEqual(JSON.parse(text));
  });

  it.each([
    ["[1,2", "the text ends where a value is expected"],
    ["[1 2]", "',' is expected here"],
    ["[1,]", "a number is expected here"],
    ['["a', "the text ends inside a string"],
    ['["a\\', "the text ends inside a string"],
    ["[tru]", "'true' is expected here"],
    ['{"a":1}', "'[' is expected here"],
    [`[${"1".repeat(200)}]`, "a number is expected here"],
    ["[1.2.3]", "',' is expected here"],
    ["[--1]", "is no number"],
    ["[] []", "text after the end"],
  ])("refuses %s", (text, message) => {
    const json = new JsonScanner(inPieces(text, seededRandom(seed).next), 128);
    expect(() => {
      json.array(() => json.skip());
      json.end();
    }).toThrow(message);
  });
});
