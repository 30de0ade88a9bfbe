import { plainLike } from "@shoal/model/testing/plain-filter";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { checkLikeValue, LikePattern, PATTERN_CHARS_MAX } from "./like-pattern.js";

const CHARS = ["a", "a", "b", "c", "é", "\u{1f41f}", "\ud800"];

describe("a pattern, against trying everything", () => {
  it.each([1, 2, 3, 4])("seed %i", (seed) => {
    const random = seededRandom(seed);
    let matched = 0;
    for (let round = 0; round < 10_000; round++) {
      const alphabet = CHARS.slice(0, 2 + random.below(5));
      const pattern = random.list(9, () => random.pick([...alphabet, ...alphabet, "*", "*", "?"])).join("");
      const token = random.list(14, () => random.pick(alphabet)).join("");
      const expected = plainLike(pattern, token);
      if (expected) matched += 1;
      expect(new LikePattern(pattern).matches(token), `${pattern} on ${token}`).toBe(expected);
    }
    expect(matched).toBeGreaterThan(500);
  });

  it("longer parts than a word of bits, in tokens that repeat nearly all of them", () => {
    const random = seededRandom(5);
    for (let round = 0; round < 300; round++) {
      const part = random.list(90, () => random.pick(["a", "a", "a", "b", "?"])).join("");
      const token = random.list(30, () => random.pick(["a", part.replaceAll("?", "b"), part.slice(1)])).join("");
      const pattern = `${random.pick(["", "a"])}*${part}*${random.pick(["", "b", "?"])}`;
      expect(new LikePattern(pattern).matches(token)).toBe(plainLike(pattern, token));
    }
  });

  it("the longest pattern on a token of 100 KB", () => {
    const token = "a".repeat(100_000);
    expect(new LikePattern(`*${"a".repeat(1021)}b*`).matches(token)).toBe(false);
    expect(new LikePattern(`*${"a".repeat(1021)}b*`).matches(`${token}b`)).toBe(true);
    expect(new LikePattern("*a?".repeat(341)).matches(token)).toBe(true);
    expect(new LikePattern(`${"*?a".repeat(341)}b`).matches(token)).toBe(false);
  });
});

describe("limits", () => {
  it("counts characters, not units", () => {
    expect(() => checkLikeValue("\u{1f41f}".repeat(PATTERN_CHARS_MAX))).not.toThrow();
    expect(() => checkLikeValue("\u{1f41f}".repeat(PATTERN_CHARS_MAX + 1))).toThrow(/at most 1024 characters/);
    expect(() => checkLikeValue("*".repeat(100_000))).toThrow(/at most 1024 characters/);
  });
});
