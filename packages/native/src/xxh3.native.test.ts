import { describe, expect, it } from "vitest";
import { Xxh3Hasher, xxh3Matches, xxh3Write } from "./index.js";

// The sanity buffer of the reference implementation: bytes of a 64-bit generator that multiplies by PRIME64_1.
function sanityBuffer(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let generator = 2654435761n;
  for (let i = 0; i < length; i++) {
    bytes[i] = Number(generator >> 56n);
    generator = BigInt.asUintN(64, generator * 11400714785074694797n);
  }
  return bytes;
}

const EMPTY = new Uint8Array(0);

function hash(key: Uint8Array, payload: Uint8Array): string {
  const out = new Uint8Array(8);
  xxh3Write(key, payload, out, 0);
  return new DataView(out.buffer).getBigUint64(0, true).toString(16).padStart(16, "0");
}

describe("xxh3", () => {
  // XXH3_64bits, seed 0, of the sanity buffer: xxHash tests/sanity_test_vectors.h.
  it.each([
    [0, "2d06800538d394c2"],
    [1, "c44bdff4074eecdb"],
    [6, "27b56a84cd2d7325"],
    [12, "a713daf0dfbb77e7"],
    [24, "a3fe70bf9d3510eb"],
    [48, "397da259ecba1f11"],
    [80, "bcdefbbb2c47c90a"],
    [195, "cd94217ee362ec3a"],
    [403, "cdeb804d65c6dea4"],
    [512, "617e49599013cb6b"],
    [2048, "dd59e2c3a5f038e0"],
    [2240, "6e73a90539cf2948"],
    [2367, "cb37aeb9e5d361ed"],
  ])("gives the published value for %i bytes", (length, expected) => {
    expect(hash(EMPTY, sanityBuffer(length))).toBe(expected);
  });

  it("hashes key and payload as if they were one, at every split and size", () => {
    for (const length of [1, 5, 17, 129, 241, 1000, 8191, 8192, 8193, 20_000]) {
      const all = sanityBuffer(length);
      const expected = hash(EMPTY, all);
      for (const split of [0, 1, 3, length >> 1, length - 1, length]) {
        if (split > length) continue;
        expect(hash(all.subarray(0, split), all.subarray(split)), `${split} of ${length}`).toBe(expected);
        const hasher = new Xxh3Hasher().update(all.subarray(0, split)).update(all.subarray(split));
        const out = new Uint8Array(8);
        xxh3Write(EMPTY, all, out, 0);
        expect(hasher.digest()).toEqual(out);
      }
    }
  });

  it("sees every single flipped bit", () => {
    const payload = sanityBuffer(300);
    const key = sanityBuffer(16);
    const stored = new Uint8Array(11);
    xxh3Write(key, payload, stored, 3);
    expect(xxh3Matches(key, payload, stored, 3)).toBe(true);
    for (const bytes of [key, payload, stored.subarray(3)]) {
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(xxh3Matches(key, payload, stored, 3)).toBe(false);
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      }
    }
  });

  it("refuses places where no hash fits", () => {
    const bytes = new Uint8Array(10);
    expect(() => xxh3Write(bytes, bytes, bytes, 3)).toThrow(TypeError);
    expect(() => xxh3Matches(bytes, bytes, new Uint8Array(7), 0)).toThrow(TypeError);
    expect(() => xxh3Write(bytes, bytes, bytes, 4_294_967_295)).toThrow(TypeError);
    expect(() => new Xxh3Hasher().digestInto(bytes, 3)).toThrow(TypeError);
  });
});
