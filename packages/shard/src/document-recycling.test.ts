import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { DocumentRecycling } from "./document-recycling.js";

describe("document recycling", () => {
  it("gives an id back at once when nothing searches", () => {
    const free: number[] = [];
    const recycling = new DocumentRecycling((document) => free.push(document));
    recycling.release(7);
    expect(free).toEqual([7]);
  });

  it.each([1, 2, 3])("an id waits for the searches that began before, and for no others, seed %i", (seed) => {
    const random = seededRandom(seed);
    const free = new Set<number>();
    const recycling = new DocumentRecycling((document) => free.add(document));
    const running = new Map<number, number>();
    /** Searches that were running when the document was released. */
    const waitsFor = new Map<number, Set<number>>();
    let next = 0;
    for (let step = 0; step < 600; step++) {
      next += 1;
      const kind = random.below(3);
      if (kind === 0) running.set(next, recycling.searchBegan());
      if (kind === 1) {
        const oldest = [...running.keys()][random.below(running.size)];
        if (oldest !== undefined) {
          recycling.searchEnded(running.get(oldest) ?? -1);
          running.delete(oldest);
        }
      }
      if (kind === 2) {
        waitsFor.set(next, new Set(running.keys()));
        recycling.release(next);
      }
      for (const [document, searches] of waitsFor) {
        const waiting = [...searches].some((search) => running.has(search));
        if (waiting) expect(free.has(document)).toBe(false);
      }
    }
    for (const generation of running.values()) recycling.searchEnded(generation);
    expect([...free].sort((a, b) => a - b)).toEqual([...waitsFor.keys()]);
  });
});
