import { describe, expect, it } from "vitest";
import { rowCategory, rowPrice, rowRegions } from "./bench-class.js";
import { filteredRows, filterText, regionFrom } from "./bench-filter.js";
import { levelId, linksOf, REFERENCE_LEVELS } from "./reference-tree.js";

const DIMENSIONS = 3;
const COUNT = 20_000;
const rows = {
  texts: Array.from({ length: COUNT }, (_, row) => `word ${row}`),
  vectors: Float32Array.from({ length: COUNT * DIMENSIONS }, (_, at) => Math.sin(at * 12.9898)),
};
const kept = (...args: [Parameters<typeof filteredRows>[0], number]) =>
  filteredRows(args[0], rows, DIMENSIONS)(args[1]);

describe("filters of the benchmark", () => {
  it("keep the share of the rows that they say, and only those that satisfy the clause", () => {
    expect(kept({ property: "rank", below: 200 }, 0)).toEqual(Uint32Array.from({ length: 200 }, (_, row) => row));
    const cheap = kept({ property: "price", below: 100 }, 0);
    expect(Math.abs(cheap.length - COUNT / 10)).toBeLessThan(150);
    expect([...cheap].every((row) => rowPrice(row) < 100)).toBe(true);
    const third = kept({ property: "category" }, 3);
    expect(filterText({ property: "category" }, 13)).toContain('"category3"');
    expect(Math.abs(third.length - COUNT / 10)).toBeLessThan(150);
    expect([...third].every((row) => rowCategory(row) === "category3")).toBe(true);
  });

  it("by region keep rows that lie together: the nearest ones to one direction", () => {
    const near = kept({ property: "region", from: regionFrom(1) }, 0);
    expect(near.length).toBe(COUNT / 100);
    const regions = rowRegions(rows, DIMENSIONS);
    const anchor = rows.vectors.subarray(400 * DIMENSIONS, 401 * DIMENSIONS);
    const nearness = (row: number) => {
      const vector = rows.vectors.subarray(row * DIMENSIONS, (row + 1) * DIMENSIONS);
      return vector.reduce((sum, value, at) => sum + value * (anchor[at] ?? 0), 0) / Math.hypot(...vector);
    };
    const least = Math.min(...[...near].map(nearness));
    const others = rows.texts.map((_, row) => row).filter((row) => (regions[row] ?? 0) < regionFrom(1));
    expect(others.every((row) => nearness(row) <= least)).toBe(true);
  });
});

describe("the tree of references", () => {
  it("leads from every level to the next, and to different objects", () => {
    expect(REFERENCE_LEVELS.reduce((sum, { count }) => sum + count, 0)).toBe(100_000);
    for (const level of [0, 1] as const) {
      const next = REFERENCE_LEVELS[level + 1];
      const links = Array.from({ length: 1_000 }, (_, index) => linksOf(level, index));
      expect(links.every((ids) => ids.length === REFERENCE_LEVELS[level].links)).toBe(true);
      expect(links.flat().every((to) => to >= 0 && to < (next?.count ?? 0))).toBe(true);
      expect(new Set(links.flat()).size).toBeGreaterThan(900);
    }
    expect(linksOf(2, 5)).toEqual([]);
    expect(levelId(0, 1)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
