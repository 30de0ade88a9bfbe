import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { Pattern } from "./pattern.js";

/** What a pattern means, by trying every way: the oracle. */
function meansIt(pattern: string, name: string): boolean {
  if (pattern === "") return name === "";
  if (pattern[0] !== "*") return name !== "" && name[0] === pattern[0] && meansIt(pattern.slice(1), name.slice(1));
  return meansIt(pattern.slice(1), name) || (name !== "" && meansIt(pattern, name.slice(1)));
}

const SEED = Number(process.env.MODEL_SEED) || 20;

describe(`patterns, seed ${SEED}`, () => {
  it("match what the oracle says", () => {
    const { below } = seededRandom(SEED);
    const text = (chars: string, most: number) =>
      Array.from({ length: below(most + 1) }, () => chars[below(chars.length)]).join("");
    let matching = 0;
    for (let round = 0; round < 20_000; round++) {
      const [pattern, name] = [text("ab*", 6), text("ab", 7)];
      const expected = meansIt(pattern, name);
      if (expected) matching++;
      expect(new Pattern(pattern).matches(name), `${pattern} ${name}`).toBe(expected);
    }
    expect(matching).toBeGreaterThan(500);
  });

  it("cover a pattern only where they match all that it matches", () => {
    const { below } = seededRandom(SEED);
    const names = [""];
    for (let at = 0; names.length < 2_000; at++) for (const char of "abc") names.push((names[at] ?? "") + char);
    const text = () => Array.from({ length: below(5) }, () => "ab*"[below(3)]).join("");
    const counts = { covered: 0, not: 0 };
    for (let round = 0; round < 3_000; round++) {
      const [a, b] = [new Pattern(text()), new Pattern(text())];
      const isCovered = names.every((name) => !b.matches(name) || a.matches(name));
      counts[isCovered ? "covered" : "not"]++;
      expect(a.covers(b), `${a.text} ${b.text}`).toBe(isCovered);
    }
    expect(Math.min(counts.covered, counts.not)).toBeGreaterThan(300);
  });

  it("take no longer for texts that make others go back and forth", () => {
    const pattern = new Pattern(`${"*a".repeat(127)}*b`);
    const name = "a".repeat(256);
    const before = performance.now();
    for (let round = 0; round < 1_000; round++) pattern.matches(name);
    // A matcher that tries every way needs years for a single one.
    expect(performance.now() - before).toBeLessThan(5_000);
  });
});
