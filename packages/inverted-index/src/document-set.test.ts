import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { DocumentSet } from "./document-set.js";

function randomMembers(random: (below: number) => number): Set<number> {
  const limit = 1 + random(3000);
  return new Set(Array.from({ length: random(400) }, () => random(limit)));
}

const sorted = (members: Iterable<number>): number[] => [...members].sort((a, b) => a - b);

describe("DocumentSet, against Set", () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])("seed %i", (seed) => {
    const random = seededRandom(seed).below;
    for (let round = 0; round < 50; round++) {
      const first = randomMembers(random);
      const second = randomMembers(random);
      const a = DocumentSet.of(first);
      const b = DocumentSet.of(second);
      expect([...a]).toEqual(sorted(first));
      expect([...a.toArray()]).toEqual(sorted(first));
      expect(a.size).toBe(first.size);
      expect(a.isEmpty).toBe(first.size === 0);
      expect([...a.copy().and(b)]).toEqual(sorted([...first].filter((one) => second.has(one))));
      expect([...a.copy().or(b)]).toEqual(sorted(new Set([...first, ...second])));
      expect([...a.copy().andNot(b)]).toEqual(sorted([...first].filter((one) => !second.has(one))));
      for (const document of second) {
        expect(a.has(document)).toBe(first.has(document));
        a.delete(document);
        first.delete(document);
      }
      expect([...a]).toEqual(sorted(first));
    }
  });

  it("has bit 31 and bits beyond its words", () => {
    const set = DocumentSet.of([31, 63]);
    expect(set.has(31)).toBe(true);
    expect(set.has(1_000_000)).toBe(false);
    set.delete(1_000_000);
    expect([...set]).toEqual([31, 63]);
    expect(set.words).toEqual(Uint32Array.of(0x8000_0000, 0x8000_0000));
  });
});
