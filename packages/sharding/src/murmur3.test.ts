import { objectIdToBytes, parseObjectId } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { murmur3Block, murmur3Halves } from "./murmur3.js";
import { bitsOf } from "./testing/bits-of.js";

/** The same function written with BigInt, straight from the published algorithm: the oracle. */
function oracle(bytes: Uint8Array): bigint {
  const mask = (1n << 64n) - 1n;
  const c1 = 0x87c37b91114253d5n;
  const c2 = 0x4cf5ad432745937fn;
  const rotate = (value: bigint, by: bigint) => ((value << by) | (value >> (64n - by))) & mask;
  const read = (from: number, to: number) => {
    let value = 0n;
    for (let i = Math.min(to, bytes.length) - 1; i >= from; i--) value = (value << 8n) | BigInt(bytes[i] ?? 0);
    return value;
  };
  const first = (k: bigint) => (rotate((k * c1) & mask, 31n) * c2) & mask;
  const second = (k: bigint) => (rotate((k * c2) & mask, 33n) * c1) & mask;
  let h1 = 0n;
  let h2 = 0n;
  const end = bytes.length - (bytes.length % 16);
  for (let at = 0; at < end; at += 16) {
    h1 = ((rotate(h1 ^ first(read(at, at + 8)), 27n) + h2) * 5n + 0x52dce729n) & mask;
    h2 = ((rotate(h2 ^ second(read(at + 8, at + 16)), 31n) + h1) * 5n + 0x38495ab5n) & mask;
  }
  h2 ^= second(read(end + 8, end + 16));
  h1 ^= first(read(end, end + 8));
  h1 ^= BigInt(bytes.length);
  h2 ^= BigInt(bytes.length);
  h1 = (h1 + h2) & mask;
  h2 = (h2 + h1) & mask;
  const avalanche = (input: bigint) => {
    let k = input ^ (input >> 33n);
    k = (k * 0xff51afd7ed558ccdn) & mask;
    k ^= k >> 33n;
    k = (k * 0xc4ceb9fe1a85ec53n) & mask;
    return k ^ (k >> 33n);
  };
  return (avalanche(h1) + avalanche(h2)) & mask;
}

describe("murmur3", () => {
  it.each([
    ["hello", "cbd8a7b341bd9b02"],
    ["hello, world", "342fac623a5ebc8e"],
    ["abcdefghijkl", "8ef39bb1e67ae194"],
  ])("hashes the text %s as published", (text, hex) => {
    expect(bitsOf(Buffer.from(text)).toString(16)).toBe(hex);
  });

  it.each([
    ["00000000-0000-0000-0000-000000000000", 5457549051747178710n],
    ["11111111-1111-1111-1111-111111111111", 4360155383588533346n],
    ["d47ea61b-0ed7-4e5f-9c05-6d2c0786660f", 6192849141006203883n],
    ["8e2997f2-1972-4ee2-ad35-5fc704f2893e", 17128535458158078129n],
    ["ffffffff-ffff-ffff-ffff-ffffffffffff", 15622551527394789094n],
  ])("hashes the raw bytes of %s as the reference does", (uuid, token) => {
    const id = parseObjectId(uuid);
    if (id === undefined) throw new Error(uuid);
    expect(bitsOf(objectIdToBytes(id))).toBe(token);
  });

  it("agrees with the oracle for every length of tail and several blocks", () => {
    for (let length = 0; length <= 67; length++) {
      for (let seed = 1; seed <= 20; seed++) {
        const bytes = seededRandom(seed * 7919 + length).bytes(length);
        expect(bitsOf(bytes), `length ${length}, seed ${seed}`).toBe(oracle(bytes));
      }
    }
  });

  it("hashes sixteen bytes like bytes of any length", () => {
    const target = new Uint32Array(2);
    for (let seed = 1; seed <= 2_000; seed++) {
      const bytes = seededRandom(seed).bytes(16);
      murmur3Block(bytes, target);
      expect({ high: target[0], low: target[1] }, `seed ${seed}`).toEqual(murmur3Halves(bytes));
    }
  });
});
