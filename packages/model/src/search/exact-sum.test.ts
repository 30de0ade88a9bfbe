import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import { ExactSum } from "./exact-sum.js";

const view = new DataView(new ArrayBuffer(8));

/** The value as a multiple of 2^-1074, from its decimal-free binary text: another way than that of the sum itself. */
function units(value: number): bigint {
  if (Math.abs(value) < 2 ** 52 * 2 ** -1074) return BigInt(value / 2 ** -1074);
  let shift = 0n;
  let scaled = value;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    shift++;
  }
  return (BigInt(scaled) << 1074n) >> shift;
}

/** Of all float64, found by halving their bit patterns, the one nearest to `total`; ties to even. */
function rounded(total: bigint): number {
  const size = total < 0n ? -total : total;
  const floatAt = (bits: bigint) => {
    view.setBigUint64(0, bits);
    return view.getFloat64(0);
  };
  let low = 0n;
  let high = 0x7fefffffffffffffn;
  while (low < high) {
    const middle = (low + high + 1n) >> 1n;
    if (units(floatAt(middle)) <= size) low = middle;
    else high = middle - 1n;
  }
  const below = size - units(floatAt(low));
  const next = low === 0x7fefffffffffffffn ? 1n << 2098n : units(floatAt(low + 1n));
  const above = next - size;
  const bits = below < above || (below === above && (low & 1n) === 0n) ? low : low + 1n;
  return total < 0n ? -floatAt(bits) : floatAt(bits);
}

function sumOf(values: readonly number[]): ExactSum {
  const sum = new ExactSum();
  sum.addAll(values);
  return sum;
}

/** What makes plain addition lose: sizes far apart, opposite signs, whole numbers at the border of 2^53, subnormals. */
function hardValue(next: () => number): number {
  const sign = next() < 0.5 ? -1 : 1;
  switch (Math.floor(next() * 7)) {
    case 0:
      return sign * Math.floor(next() * 1000);
    case 1:
      return sign * (2 ** 53 - Math.floor(next() * 3));
    case 2:
      return sign * next() * 2 ** Math.floor(next() * 2000 - 1070);
    case 3:
      return sign * Number.MIN_VALUE * Math.floor(next() * 5);
    case 4:
      return sign * Number.MAX_VALUE * (next() < 0.5 ? 1 : next());
    case 5:
      return sign * Math.round(next() * 10_000) * 0.01;
    default:
      return sign * 2 ** Math.floor(next() * 120 - 60);
  }
}

describe("ExactSum", () => {
  test("is the correctly rounded sum, in any order, in one or in parts", () => {
    const { next, shuffled } = seededRandom(20_261_120);
    for (let round = 0; round < 1500; round++) {
      const values = Array.from({ length: Math.floor(next() * 12) }, () => hardValue(next));
      const total = values.reduce((sum, value) => sum + units(value), 0n);
      const expected = rounded(total);
      const whole = sumOf(values);
      expect({ values, sum: whole.value() }).toEqual({ values, sum: expected });
      expect(sumOf(shuffled(values)).value()).toBe(expected);
      const cut = Math.floor(next() * (values.length + 1));
      const parts = sumOf(sumOf(values.slice(cut)).parts());
      parts.addAll(sumOf(values.slice(0, cut)).parts());
      expect(parts.value()).toBe(expected);
      expect(parts.parts().every(Number.isFinite)).toBe(true);
    }
  });

  test("sums beyond float64 in between do not show", () => {
    const large = Array.from({ length: 1000 }, () => Number.MAX_VALUE);
    const sum = sumOf(large);
    expect(sum.value()).toBe(Number.POSITIVE_INFINITY);
    expect(sum.mean(1000)).toBe(Number.MAX_VALUE);
    const back = sumOf(sum.parts());
    back.addAll(large.map((value) => -value));
    back.add(0.1);
    expect(back.value()).toBe(0.1);
  });

  test("a mean is the sum divided once", () => {
    expect(sumOf([1, 2, 7]).mean(6)).toBe(1.6666666666666667);
    expect(sumOf([0.1, 0.2, 0.3]).mean(3)).toBe(0.6 / 3);
  });

  test("no value gives 0", () => {
    expect(new ExactSum().value()).toBe(0);
    expect(new ExactSum().parts()).toEqual([]);
  });
});
