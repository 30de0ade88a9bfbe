import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { tSne } from "./t-sne.js";

const SETTINGS = { dimensions: 2, perplexity: 5, iterations: 100, learningRate: 25 };

/** Two heaps of points in ten dimensions, far from each other. */
function twoHeaps(each: number): Float32Array {
  const { next } = seededRandom(7);
  return Float32Array.from({ length: 2 * each * 10 }, (_, at) => next() - 0.5 + (at < each * 10 ? 0 : 8));
}

describe("tSne", () => {
  it("gives the same points for the same rows, centred, none of them NaN", () => {
    const points = tSne(twoHeaps(10), 20, SETTINGS);
    expect(points).toHaveLength(40);
    expect(tSne(twoHeaps(10), 20, SETTINGS)).toEqual(points);
    expect(points.every(Number.isFinite)).toBe(true);
    for (const axis of [0, 1]) {
      expect(points.filter((_, at) => at % 2 === axis).reduce((sum, one) => sum + one, 0)).toBeCloseTo(0, 6);
    }
  });

  it("keeps neighbours together: the nearest point of each is of its own heap", () => {
    const rows = 30;
    const points = tSne(twoHeaps(rows / 2), rows, SETTINGS);
    const distance = (a: number, b: number) =>
      Math.hypot((points[2 * a] ?? 0) - (points[2 * b] ?? 0), (points[2 * a + 1] ?? 0) - (points[2 * b + 1] ?? 0));
    let own = 0;
    for (let row = 0; row < rows; row++) {
      const others = Array.from({ length: rows }, (_, other) => other).filter((other) => other !== row);
      const nearest = others.sort((a, b) => distance(row, a) - distance(row, b))[0] ?? -1;
      if (nearest < rows / 2 === row < rows / 2) own++;
    }
    expect(own).toBeGreaterThanOrEqual(rows * 0.9);
  });

  it.each([
    [0, 2],
    [1, 2],
    [2, 1],
    [3, 3],
  ])("takes %i rows to %i dimensions", (rows, dimensions) => {
    const points = tSne(twoHeaps(2).slice(0, rows * 10), rows, {
      ...SETTINGS,
      perplexity: Math.max(0, rows - 1),
      dimensions,
    });
    expect(points).toHaveLength(rows * dimensions);
    expect(points.every(Number.isFinite)).toBe(true);
    if (rows === 1) expect([...points]).toEqual([0, 0]);
  });

  it("takes rows that are all the same", () => {
    expect(tSne(new Float32Array(60).fill(1), 6, SETTINGS).every(Number.isFinite)).toBe(true);
  });
});
