import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { closedEnds, type Interval, isWithin } from "./interval.js";

const NUMBERS = [
  ...[0, -0, 1, -1, 0.1, -0.1, 2 ** 53, -(2 ** 53), Number.MIN_VALUE, -Number.MIN_VALUE],
  ...[1 + Number.EPSILON, 1 - Number.EPSILON / 2, -1 - Number.EPSILON, -1 + Number.EPSILON / 2],
  ...[Number.MAX_VALUE, -Number.MAX_VALUE, 2 ** -1022, 2 ** -1022 - Number.MIN_VALUE],
];
const ENDS = [...NUMBERS, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

describe("the closed ends of an interval", () => {
  it("have the same numbers between them", () => {
    const random = seededRandom(4);
    let inside = 0;
    for (let round = 0; round < 5_000; round++) {
      const interval: Interval = {
        low: random.pick(ENDS),
        lowRest: random.pick([0, 0, 7]),
        lowOpen: random.next() < 0.5,
        high: random.pick(ENDS),
        highRest: random.pick([0, 0, 7]),
        highOpen: random.next() < 0.5,
      };
      const { least, most } = closedEnds(interval);
      for (const value of NUMBERS) {
        const expected = isWithin(interval, value, 0);
        expect(value >= least && value <= most, `${value} in ${JSON.stringify(interval)}`).toBe(expected);
        inside += Number(expected);
      }
    }
    expect(inside).toBeGreaterThan(5_000);
  });
});
