import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { PresentDocuments } from "./present-documents.js";

it.each([1, 2, 3, 4])("has what is there, and leaves alone what it gave away, seed %i", (seed) => {
  const random = seededRandom(seed);
  const there = new Set<number>(Array.from({ length: 20 }, () => random.below(100)));
  const present = new PresentDocuments();
  const given: { readonly members: readonly number[]; readonly set: Iterable<number> }[] = [];
  for (let step = 0; step < 500; step++) {
    const document = random.below(200);
    if (there.has(document)) {
      there.delete(document);
      present.removed(document);
    } else {
      there.add(document);
      present.inserted(document);
    }
    if (random.below(4) !== 0) continue;
    const set = present.all(200, there);
    const again = present.all(200, there);
    expect(again).toBe(set);
    given.push({ members: [...there].sort((a, b) => a - b), set });
  }
  expect(given.length).toBeGreaterThan(50);
  for (const { members, set } of given) expect([...set]).toEqual(members);
});
