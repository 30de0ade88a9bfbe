import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { correctText } from "./correct-text.js";
import { mostLikely } from "./most-likely.js";
import { Spelling } from "./spelling.js";

describe("Spelling", () => {
  const spelling = new Spelling();
  const corrected = (text: string) => correctText(text, spelling.changes([text])).text;
  it.each([
    ["unnecesary mispelled texts", "unnecessary misspelled texts"],
    ["I recieve a leter from my freind", "i receive a letter from my friend"],
    ["Wrld Championship", "world championship"],
    ["The Netherlands", "The Netherlands"],
    ["amsterdam and microsoft don't know it", "amsterdam and microsoft don't know it"],
    ["qwertzuiopasdfgh", "qwertzuiopasdfgh"],
    ["h4cker 2020 xx", "h4cker 2020 xx"],
    ["", ""],
  ])("%s", (text, right) => {
    expect(corrected(text)).toBe(right);
    expect(corrected(text)).toBe(right);
  });

  it("says each misspelt word once", () => {
    expect(spelling.changes(["recieve Recieve", "recieve"])).toEqual([{ original: "recieve", correction: "receive" }]);
  });
});

describe("mostLikely", () => {
  it.each([
    ["fialed", ["dialed", "failed", "filed"], "failed"],
    ["wrld", ["weld", "wold", "world"], "world"],
    ["carss", ["carps", "cars"], "cars"],
    ["xyz", ["abc", "abd"], "abc"],
    ["xyz", [], undefined],
  ])("%s of %j is %s", (word, suggestions, likely) => {
    expect(mostLikely(word, suggestions)).toBe(likely);
  });
});

describe("correctText", () => {
  it("is the same as replacing word by word, in any text", () => {
    const { below, pick } = seededRandom(7);
    const words = ["ab", "Ab", "abc", "b.c", "é", "x"];
    const separators = [" ", ", ", "-", "  "];
    for (let round = 0; round < 500; round++) {
      const parts = Array.from({ length: 1 + below(6) }, () => [pick(words), pick(separators)]);
      const text = parts.flat().join("");
      const changes = ["ab", "abc", "é"]
        .slice(0, below(4))
        .map((original) => ({ original, correction: `${original}+` }));
      const right = parts.map(([word = "", separator]) => {
        const change = changes.find(({ original }) => original === word.toLowerCase());
        return (change?.correction ?? word.toLowerCase()) + separator;
      });
      const needed = changes.filter(({ original }) => parts.some(([word]) => word?.toLowerCase() === original));
      const result = correctText(text, changes);
      expect(result.text, text).toBe(needed.length === 0 ? text : right.join(""));
      expect(new Set(result.applied), text).toEqual(new Set(needed));
    }
  });

  it("takes signs in words for what they are", () => {
    expect(correctText("what is c++ (really)?", [{ original: "c++", correction: "c" }]).text).toBe(
      "what is c (really)?",
    );
  });
});
