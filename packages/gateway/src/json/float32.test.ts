import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { float32ArrayToJson, shortestFloat32 } from "./float32.js";

/** Shortest by definition: the fewest digits that read back; the oracle of every case below. */
function oracle(value: number): string {
  if (value === 0) return "0";
  for (let digits = 1; digits <= 9; digits++) {
    const candidate = Number(value.toPrecision(digits));
    if (Math.fround(candidate) === value) return String(candidate);
  }
  throw new Error(`no decimal for ${value}`);
}

function print(value: number): string {
  return float32ArrayToJson(Float32Array.of(value)).slice(1, -1);
}

describe("float32 text", () => {
  it("prints what the reference prints", () => {
    expect(print(-0.30000001)).toBe("-0.3");
    expect(print(52.3932696)).toBe("52.39327");
    expect(float32ArrayToJson(Float32Array.of(0.1, 2, -3.5))).toBe("[0.1,2,-3.5]");
    expect(float32ArrayToJson(new Float32Array(0))).toBe("[]");
  });

  it("spells zero, the smallest and the largest values as JavaScript does", () => {
    expect(print(0)).toBe("0");
    expect(print(-0)).toBe("0");
    expect(print(1e-7)).toBe("1e-7");
    expect(print(2 ** -149)).toBe("1e-45");
    expect(print(3.4028234663852886e38)).toBe("3.4028235e+38");
    expect(print(16777216)).toBe("16777216");
    expect(print(1e9)).toBe("1000000000");
    expect(print(999999936)).toBe("999999940");
    expect(print(Number.NaN)).toBe("null");
    expect(print(Number.POSITIVE_INFINITY)).toBe("null");
  });

  it("agrees with the definition over every magnitude and reads back", () => {
    const seed = Number(process.env.SHOAL_TEST_SEED ?? 20_261_124);
    const next = seededRandom(seed).next;
    const view = new DataView(new ArrayBuffer(4));
    for (let i = 0; i < 200_000; i++) {
      let value: number;
      if (i % 4 === 0) {
        view.setUint32(0, Math.floor(next() * 2 ** 32));
        value = view.getFloat32(0);
        if (!Number.isFinite(value)) continue;
      } else if (i % 4 === 1) value = Math.fround((next() - 0.5) * 2);
      else if (i % 4 === 2) value = Math.fround(Math.round((next() - 0.5) * 1e6) / 10 ** Math.floor(next() * 8));
      else value = Math.fround((next() - 0.5) * 10 ** Math.floor(next() * 12 - 3));
      const printed = print(value);
      const agrees =
        Math.fround(Number(printed)) === value &&
        printed.length <= oracle(value).length &&
        String(shortestFloat32(value)) === printed;
      if (!agrees) expect.fail(`seed ${seed}: ${value} printed as ${printed}, shortest is ${oracle(value)}`);
    }
  });

  it("agrees with the definition at every power of two and beside it", () => {
    const floats = new Float32Array(1);
    const words = new Uint32Array(floats.buffer);
    for (let exponent = 1; exponent < 255; exponent++) {
      for (const offset of [-1, 0, 1]) {
        words[0] = (exponent << 23) + offset;
        const value = floats[0] ?? 0;
        if (!Number.isFinite(value)) continue;
        expect(print(value)).toBe(oracle(value));
      }
    }
  });

  it("prints vectors that are larger than its scratch space", () => {
    const vector = Float32Array.from({ length: 65_535 }, (_, i) => Math.fround(i / 7));
    expect(Float32Array.from(JSON.parse(float32ArrayToJson(vector)) as number[])).toEqual(vector);
  });
});
