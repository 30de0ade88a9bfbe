import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { oddValue, withOddMembers, writeOdd } from "./odd-values.js";

it("leaves the value alone that it changes a copy of", () => {
  const value = { class: "A", list: [1, { deep: true }], properties: { text: "x" } };
  const before = JSON.stringify(value);
  const chance = seededRandom(1);
  const texts = new Set(Array.from({ length: 300 }, () => writeOdd(withOddMembers(value, chance))));
  expect(JSON.stringify(value)).toBe(before);
  expect(texts.size).toBeGreaterThan(200);
  expect(Object.keys(Object.prototype)).toEqual([]);
});

it("writes literals that no number can hold, and keys that no assignment makes", () => {
  const chance = seededRandom(2);
  const texts = Array.from({ length: 3_000 }, () => writeOdd({ a: oddValue(chance) })).join("\n");
  expect(texts).not.toContain("raw:");
  for (const part of ['"a":1e309', '"a":1.0', '"__proto__":', "\\ud800", "[[[[[["]) expect(texts).toContain(part);
});

it("is the same for the same seed", () => {
  const run = (seed: number): string => {
    const chance = seededRandom(seed);
    return Array.from({ length: 50 }, () => writeOdd(withOddMembers({ a: [1, 2], b: "c" }, chance))).join();
  };
  expect(run(3)).toBe(run(3));
  expect(run(3)).not.toBe(run(4));
});

it("never makes more of a value than can be written", () => {
  const chance = seededRandom(5);
  const item = { query: "x".repeat(250_000), variables: { list: [1, 2, 3] } };
  for (let run = 0; run < 300; run++) {
    expect(writeOdd(withOddMembers([item, [item]], chance)).length).toBeLessThan(64 * 1024 * 1024);
  }
});
