import { describe, expect, it } from "vitest";
import { seededRandom } from "./seeded-random.js";

describe("seededRandom", () => {
  // Words that the published C source draws.
  it.each([
    [0, [1144304738, 1416247, 958946056, 627933444, 2007157716]],
    [1, [2693262067, 11749833, 2265367787, 4213581821, 4159151403]],
    [20261120, [3824996810, 2461228684, 2706288404, 2927902441, 878934606]],
    [2 ** 32 - 1, [3850105811, 813802916, 3073704848, 4054706436, 3630262831]],
    [-1, [3850105811, 813802916, 3073704848, 4054706436, 3630262831]],
  ])("is mulberry32, from seed %i", (seed, words) => {
    const { next } = seededRandom(seed);
    expect(words.map(() => next() * 2 ** 32)).toEqual(words);
    const { below } = seededRandom(seed);
    expect(words.map(() => below(2 ** 32))).toEqual(words);
  });

  it("keeps its bounds and reaches all that lies between, each about as often", () => {
    const { next, below, oneIn } = seededRandom(7);
    for (const bound of [1, 2, 3, 10, 100]) {
      const counts = new Map<number, number>();
      for (let draw = 0; draw < bound * 1_000; draw++) {
        const drawn = below(bound);
        counts.set(drawn, (counts.get(drawn) ?? 0) + 1);
      }
      expect([...counts.keys()].sort((a, b) => a - b)).toEqual(Array.from({ length: bound }, (_, at) => at));
      for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150);
    }
    expect(below(0)).toBe(0);
    const fractions = Array.from({ length: 100_000 }, next);
    expect(fractions.every((one) => one >= 0 && one < 1)).toBe(true);
    expect(fractions.reduce((sum, one) => sum + one, 0) / fractions.length).toBeCloseTo(0.5, 2);
    expect(Array.from({ length: 10_000 }, () => oneIn(5)).filter(Boolean).length / 10_000).toBeCloseTo(0.2, 1);
  });

  it("picks every value, and nothing of an empty list", () => {
    const { pick } = seededRandom(8);
    expect(new Set(Array.from({ length: 100 }, () => pick(["a", "b", undefined])))).toEqual(
      new Set(["a", "b", undefined]),
    );
    expect(() => pick([])).toThrow("nothing to pick from");
  });

  it("makes lists of none to the most", () => {
    const { list } = seededRandom(9);
    let made = 0;
    const lists = Array.from({ length: 200 }, () => list(3, () => ++made));
    expect(new Set(lists.map(({ length }) => length))).toEqual(new Set([0, 1, 2, 3]));
    expect(lists.flat()).toEqual(Array.from({ length: made }, (_, at) => at + 1));
  });

  it("shuffles into every order, each about as often, and leaves the values where they are", () => {
    const { shuffled } = seededRandom(10);
    const counts = new Map<string, number>();
    for (let round = 0; round < 6_000; round++) {
      const order = shuffled(Object.freeze(["a", "b", "c"])).join("");
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).toEqual(["abc", "acb", "bac", "bca", "cab", "cba"]);
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150);
    expect(shuffled([])).toEqual([]);
  });

  it("draws as many bytes as are asked for, of all values", () => {
    const bytes = seededRandom(11).bytes(10_000);
    expect(bytes).toHaveLength(10_000);
    expect(new Set(bytes).size).toBe(256);
  });

  it("repeats itself for the same seed only", () => {
    const drawn = (seed: number) => [...seededRandom(seed).bytes(20)];
    expect(drawn(3)).toEqual(drawn(3));
    expect(new Set([1, 2, 3, 4, 5].map((seed) => drawn(seed).join())).size).toBe(5);
  });
});
