import { describe, expect, it } from "vitest";
import { SIMD_KERNELS, simdDots } from "./simd-kernels.js";

const bits = new Uint32Array(1);
const value = new Float32Array(bits.buffer);

/** The upper half, rounded half up in magnitude. */
function high(number: number): number {
  value[0] = number;
  bits[0] = ((bits[0] ?? 0) + 0x8000) & 0xffff0000;
  return value[0] ?? 0;
}

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  };
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
