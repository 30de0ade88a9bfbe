import { describe, expect, it } from "vitest";
import { eachRun, runsOf } from "./runs-of.js";

const WORDS = /[\p{L}\p{N}]+/gu;
const NOT_SPACES = /[^\p{White_Space}]+/gu;
const PART = 64 * 1024;

/** The same, character by character. */
function plainRuns(text: string, isInside: (char: string) => boolean): readonly string[] {
  const runs: string[] = [];
  let from = 0;
  let at = 0;
  for (const char of text) {
    if (!isInside(char)) {
      if (at > from) runs.push(text.slice(from, at));
      from = at + char.length;
    }
    at += char.length;
  }
  if (at > from) runs.push(text.slice(from, at));
  return runs;
}

describe("runsOf", () => {
  it("is what the pattern matches, wherever parts end", () => {
    const patterns: readonly [RegExp, (char: string) => boolean][] = [
      [WORDS, (char) => /[\p{L}\p{N}]/u.test(char)],
      [NOT_SPACES, (char) => !/\p{White_Space}/u.test(char)],
    ];
    // Around the end of the first part: a letter, a pair, halves of pairs, what separates.
    const middles = ["a", " ", "𠀀", "a 𠀀", "\ud840 ", "a\ud840", "\udc00a", "😀", " ö ", "a\ud840\ud840\udc00b"];
    for (const [pattern, isInside] of patterns) {
      for (const middle of middles) {
        for (let before = 1; before <= middle.length + 1; before++) {
          const long = `字${"c".repeat(PART - 4 - before)}`;
          const expected = plainRuns(`ab 字${middle}d`, isInside).map((run) => run.replace("字", long));
          expect(runsOf(`ab ${long}${middle}d`, pattern)).toEqual(expected);
        }
      }
    }
  });

  it("goes on over several parts, and over those without any", () => {
    const word = "ö字".repeat(1.6 * PART);
    const text = `${word}${" ".repeat(2.5 * PART)}x${" ".repeat(PART)}`;
    expect(runsOf(text, WORDS)).toEqual([word, "x"]);
    expect([...eachRun("字 b, c", WORDS)]).toEqual(["字", "b", undefined, "c"]);
    expect(runsOf("", WORDS)).toEqual([]);
  });

  it("takes runs that a regular expression cannot", () => {
    const text = `字${"a".repeat(10_000_000)}`;
    expect(() => text.match(WORDS)).toThrow(RangeError);
    expect(runsOf(text, WORDS)).toEqual([text]);
  });
});
