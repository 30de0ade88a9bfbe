import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { joinJsonMembers, jsonListParts, jsonMembers } from "./json-members.js";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

const PIECES = ["a", '"', "\\", "{", "}", "[", "]", ",", ":", "ä", "☃", "😀", "\n", "\u0001", "__proto__", "\ud800"];

function textFrom(random: (below: number) => number): string {
  return Array.from({ length: random(6) }, () => PIECES[random(PIECES.length)]).join("");
}

function valueFrom(random: (below: number) => number, depth: number): unknown {
  switch (random(depth === 0 ? 4 : 6)) {
    case 0:
      return textFrom(random);
    case 1:
      return random(1_000_000) / 7 - 5_000;
    case 2:
      return [null, true, false, -0, 1e300][random(5)];
    case 3:
      return [];
    case 4:
      return Array.from({ length: random(4) }, () => valueFrom(random, depth - 1));
    default:
      return Object.fromEntries(
        Array.from({ length: random(4) }, () => [textFrom(random), valueFrom(random, depth - 1)]),
      );
  }
}

describe("the members of stored properties", () => {
  const seed = Number(process.env.MODEL_SEED) || 31;

  // Not what JSON.parse makes of it: since Node 22 that may take a name for an earlier one with a backslash.
  it(`are those that JSON.stringify has written, in their order, seed ${seed}`, () => {
    const random = seededRandom(seed).below;
    for (let round = 0; round < 5_000; round++) {
      const entries = Array.from({ length: random(6) }, () => [textFrom(random), valueFrom(random, 3)] as const);
      const object = Object.fromEntries(entries);
      const json = JSON.stringify(object);
      const members = jsonMembers(bytesOf(json));
      const expected = Object.entries(object).map(([name, value]) => [name, JSON.stringify(value)]);
      expect(
        Array.from(members, ([name, bytes]) => [name, textOf(bytes)]),
        json,
      ).toEqual(expected);
      expect(textOf(joinJsonMembers(members)), json).toBe(json);
    }
  });

  it("are joined from texts, too", () => {
    expect(textOf(joinJsonMembers([]))).toBe("{}");
    expect(
      textOf(
        joinJsonMembers([
          ["ä", '"☃"'],
          ["b", bytesOf("[1]")],
        ]),
      ),
    ).toBe('{"ä":"☃","b":[1]}');
  });

  it.each([
    "",
    "[]",
    "{",
    '{"a',
    '{"a"',
    '{"a"}',
    '{"a":',
    '{"a":1',
    '{"a":[1}',
    '{"a":"b',
    '{"a":1,',
    '{"a":1,}',
    "{a:1}",
  ])("of what is no object are not made up: %s", (text) => {
    expect(() => jsonMembers(bytesOf(text))).toThrow("cannot be read");
  });
});

describe("the elements of a stored list", () => {
  it("come in parts that are together what JSON.parse makes of it, seeded", () => {
    const random = seededRandom(32).below;
    for (let round = 0; round < 3_000; round++) {
      const json = JSON.stringify(Array.from({ length: random(8) }, () => valueFrom(random, 2)));
      const partBytes = 1 + random(30);
      const parts = [...jsonListParts(bytesOf(json), partBytes)];
      expect(JSON.stringify(parts.flat())).toBe(json);
      for (const part of parts.slice(0, -1)) {
        const bytes = (elements: readonly unknown[]) => bytesOf(JSON.stringify(elements)).length - 2;
        expect(bytes(part)).toBeGreaterThanOrEqual(partBytes);
        expect(bytes(part.slice(0, -1))).toBeLessThan(partBytes);
      }
    }
  });

  it.each(["", "{}", "[", "[1", '["', "[1,"])("damage is reported: %s", (json) => {
    expect(() => [...jsonListParts(bytesOf(json), 10)]).toThrow(expect.objectContaining({ code: "dataLoss" }));
  });
});
