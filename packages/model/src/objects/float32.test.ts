import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { shortestFloat32 } from "./float32.js";

describe("shortestFloat32", () => {
  it.each([
    [-0.30000001, "-0.3"],
    [52.3932696, "52.39327"],
    [51.225556, "51.225555"],
    [52.366667, "52.36667"],
    [0.1, "0.1"],
    [-0, "0"],
    [16777217, "16777216"],
    [1e-45, "1e-45"],
    [3.4028235e38, "3.4028235e+38"],
    [1e39, "Infinity"],
  ])("writes %d as %s", (value, text) => {
    expect(String(shortestFloat32(value))).toBe(text);
  });

  it("stays the same float32, and no shorter notation does (seed 42)", () => {
    const { below } = seededRandom(42);
    const words = new Uint32Array(1);
    const floats = new Float32Array(words.buffer);
    for (let i = 0; i < 50_000; i++) {
      words[0] = below(2 ** 32);
      const value = floats[0] ?? 0;
      if (!Number.isFinite(value)) continue;
      const short = shortestFloat32(value);
      expect(Math.fround(short)).toBe(value === 0 ? 0 : value);
      const digits = short.toExponential().replace(/e.*|[-.]/g, "").length;
      if (digits > 1) expect(Math.fround(Number(value.toPrecision(digits - 1))), String(value)).not.toBe(value);
    }
  });
});
