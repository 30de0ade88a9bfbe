import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import { mergeSorted } from "./scatter.js";

interface Entry {
  readonly key: number;
  readonly list: number;
}

describe("lists that are merged", () => {
  test.each([1, 2, 3, 4])("are a page of all entries sorted, equal ones in the order of the lists, seed %i", (seed) => {
    const { below } = seededRandom(seed);
    for (let round = 0; round < 300; round++) {
      const lists = Array.from({ length: below(5) }, (_, list) =>
        Array.from({ length: below(12) }, (): Entry => ({ key: below(9), list })).sort(byKey),
      );
      const offset = below(6);
      const limit = below(20);
      const all = lists.flat().sort(byKey);
      expect(mergeSorted(lists, byKey, offset, limit)).toEqual(all.slice(offset, offset + limit));
    }
  });
});

function byKey(a: Entry, b: Entry): number {
  return a.key - b.key;
}
