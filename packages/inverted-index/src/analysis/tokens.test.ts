import { plainTokens } from "@shoal/model/testing/plain-filter";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { indexYielder } from "../index-yielder.js";
import { isLongTerm, patternTokensOf, TERM_BYTES_MAX, tokensInSteps, tokensOf } from "./tokens.js";

const CHARS = [
  ..."abZ9",
  ..." \t\n\u0085\u00a0\u2003\ufeff\u001c",
  ..."-_.@*?'",
  "é",
  "É",
  "ß",
  "日",
  "\u0301",
  "\u{1d4d0}",
  "\0",
];

describe("tokens, against a character by itself", () => {
  it.each(["text", "string"] as const)("%s", (tokenization) => {
    const random = seededRandom(3);
    for (let round = 0; round < 5000; round++) {
      const text = random.list(12, () => random.pick(CHARS)).join("");
      expect(tokensOf(text, tokenization)).toEqual([...new Set(plainTokens(text, tokenization))]);
      expect(patternTokensOf(text, tokenization)).toEqual([...new Set(plainTokens(text, tokenization, "*?"))]);
    }
  });

  it("in steps they are the same", async () => {
    const random = seededRandom(8);
    for (const tokenization of ["text", "string"] as const) {
      const text = `${Array.from({ length: 300_000 }, () => random.pick(CHARS)).join("")}\ud800`;
      let steps = 0;
      const work = tokensInSteps(text, tokenization, indexYielder());
      let step = work.next();
      for (; step.done !== true; step = work.next()) steps += 1;
      expect(step.value).toEqual(tokensOf(text, tokenization));
      expect(steps).toBeGreaterThan(2);
    }
  });

  it("a half of a surrogate pair is U+FFFD, as in UTF-8", () => {
    expect(tokensOf("a\ud800b", "string")).toEqual(["a\ufffdb"]);
    expect(tokensOf("a\ud800b", "text")).toEqual(["a", "b"]);
  });

  it("the same word is the same token wherever it stands", () => {
    expect(tokensOf("ΟΔΟΣ", "text")).toEqual(["οδοσ"]);
    expect(patternTokensOf("ΟΔΟΣ*", "text")).toEqual(["οδοσ*"]);
  });

  it("long ones are those of more than 256 bytes", () => {
    expect(isLongTerm("x".repeat(TERM_BYTES_MAX))).toBe(false);
    expect(isLongTerm("x".repeat(TERM_BYTES_MAX + 1))).toBe(true);
    expect(isLongTerm("ü".repeat(TERM_BYTES_MAX / 2))).toBe(false);
    expect(isLongTerm(`${"ü".repeat(TERM_BYTES_MAX / 2)}x`)).toBe(true);
  });
});
