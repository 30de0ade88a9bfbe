import { describe, expect, it } from "vitest";
import { percentile } from "./percentile.js";

describe("percentile", () => {
  it("is the smallest value that the share does not exceed", () => {
    const hundred = Float64Array.from({ length: 100 }, (_, index) => index + 1);
    expect(percentile(hundred, 0.5)).toBe(50);
    expect(percentile(hundred, 0.99)).toBe(99);
    expect(percentile(hundred, 0.991)).toBe(100);
    expect(percentile(hundred, 0)).toBe(1);
    expect(percentile(hundred, 1)).toBe(100);
  });

  it("is the only value of one, and no number of none", () => {
    expect(percentile(Float64Array.of(7), 0.5)).toBe(7);
    expect(percentile(Float64Array.of(7), 0.99)).toBe(7);
    expect(percentile(new Float64Array(0), 0.5)).toBeNaN();
  });

  it("is never below the share of values it must cover", () => {
    for (let length = 1; length < 60; length++) {
      const values = Float64Array.from({ length }, (_, index) => index);
      for (const share of [0.01, 0.25, 0.5, 0.75, 0.9, 0.99]) {
        const found = percentile(values, share);
        const covered = (value: number) => values.filter((other) => other <= value).length / length;
        expect(covered(found)).toBeGreaterThanOrEqual(share - 1e-12);
        if (found > 0) expect(covered(found - 1)).toBeLessThan(share);
      }
    }
  });
});
