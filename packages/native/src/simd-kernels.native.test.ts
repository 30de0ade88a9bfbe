import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { SIMD_KERNELS, simdDots } from "./testing/simd-kernels.js";

const bits = new Uint32Array(1);
const value = new Float32Array(bits.buffer);

/** The upper half, rounded half up in magnitude. */
function high(number: number): number {
  value[0] = number;
  bits[0] = ((bits[0] ?? 0) + 0x8000) & 0xffff0000;
  return value[0] ?? 0;
}

/** Numbers in [-1, 1). */
function random(seed: number): () => number {
  const { next } = seededRandom(seed);
  return () => next() * 2 - 1;
}

describe.each(SIMD_KERNELS.map((name, kernel) => ({ name, kernel })))("kernel $name", ({ kernel }) => {
  it("sums all products, and nothing else, at every length", () => {
    for (const dimensions of [...Array.from({ length: 130 }, (_, i) => i + 1), 384, 784, 1536, 4096, 65_535]) {
      const next = random(dimensions);
      const scale = 1 / Math.sqrt(dimensions);
      const first = Float32Array.from({ length: dimensions }, () => next() * scale);
      const second = Float32Array.from({ length: dimensions }, () => next() * scale);
      let highs = 0;
      let exact = 0;
      first.forEach((a, i) => {
        highs += high(a) * high(second[i] ?? 0);
        exact += a * (second[i] ?? 0);
      });
      const dots = simdDots(kernel, first, second);
      expect(Math.abs(dots.high - highs), `${dimensions}`).toBeLessThan(2e-6);
      expect(dots.many).toBe(dots.high);
      expect(Math.abs(dots.exact - exact), `${dimensions}`).toBeLessThan(2e-6);
    }
  });

  it("multiplies codes without an error of its own, at every length", () => {
    for (const dimensions of [...Array.from({ length: 140 }, (_, i) => i + 1), 784, 1536, 65_535]) {
      const next = random(dimensions);
      const whole = (): Float32Array => Float32Array.from({ length: dimensions }, () => Math.round(next() * 126));
      const first = whole();
      const second = whole();
      // With these in it a step is 1, and nothing is left out.
      first[next() < 0 ? 0 : dimensions - 1] = 127;
      second[next() < 0 ? 0 : dimensions - 1] = -127;
      const product = first.reduce((sum, a, i) => sum + a * (second[i] ?? 0), 0);
      expect(simdDots(kernel, first, second)).toMatchObject({ codes: Math.fround(product), lost: [0, 0] });
    }
  });

  it("tells how much the codes leave out", () => {
    for (const dimensions of [1, 3, 60, 61, 100, 784]) {
      const next = random(dimensions + 1);
      const first = Float32Array.from({ length: dimensions }, () => next());
      const second = Float32Array.from({ length: dimensions }, () => next() ** 9);
      const { exact, codes, lost } = simdDots(kernel, first, second);
      for (const [i, vector] of [first, second].entries()) {
        const step = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0) / 127;
        const left = Math.hypot(...vector.map((value) => value - step * Math.round(value / step)));
        expect(lost[i]).toBeCloseTo(left, 5);
      }
      // By Cauchy and Schwarz.
      const error = lost[0] * (Math.hypot(...second) + lost[1]) + lost[1] * Math.hypot(...first);
      expect(Math.abs(exact - codes)).toBeLessThan(error + 1e-6);
      expect(simdDots(SIMD_KERNELS.length - 1, first, second).codes).toBe(codes);
    }
    const zeros = new Float32Array(100);
    expect(simdDots(kernel, zeros, zeros)).toMatchObject({ codes: 0, lost: [0, 0] });
  });

  it("rebuilds every float32 from its halves", () => {
    const one = Float32Array.of(1);
    for (const number of [
      1,
      -1,
      0.1,
      -0.1,
      1 / 3,
      2 ** -126,
      1.9999999,
      -1.9999999,
      0.00390625,
      1.00390625,
      1.01171875,
    ]) {
      value[0] = number;
      expect(simdDots(kernel, one, Float32Array.of(number)).exact).toBe(value[0]);
    }
  });
});
