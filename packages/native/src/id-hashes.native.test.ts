import { describe, expect, it } from "vitest";
import { hashIds } from "./id-hashes.js";

/** Words of ids, as they lie in memory. */
const wordsOf = (...hex: string[]) => new Uint32Array(new Uint8Array(Buffer.from(hex.join(""), "hex")).buffer);

describe("hashes of many ids", () => {
  it("are MurmurHash3 x86-32 of their bytes", () => {
    const words = wordsOf("0123456789ab4cde8f0123456789abcd", "ffffffff000040008000000000000001");
    const hashes = new Uint32Array(2);
    hashIds(words, 0, 16, hashes);
    // Computed by another implementation, which gives 0x248bfa47 for "hello".
    expect([...hashes]).toEqual([0xe6d1fe68, (0x6bba4ae5 - 0xe6d1fe68) >>> 0]);
    hashIds(words, 1, 16, hashes);
    expect([...hashes]).toEqual([0x648818b6, 0x7f79c124 - 0x648818b6]);
  });

  it("are those of the ids that there is room for", () => {
    const words = wordsOf("0123456789ab4cde8f0123456789abcd", "ffffffff000040008000000000000001");
    const [both, one] = [new Uint32Array(2), new Uint32Array(1)];
    hashIds(words, 7, 0, both);
    hashIds(words, 7, 0, one);
    expect(one[0]).toBe(both[0]);
  });

  it.each([
    [new Uint32Array(7), 0, 0, new Uint32Array(2)],
    [new Uint32Array(8), -1, 0, new Uint32Array(2)],
    [new Uint8Array(32), 0, 0, new Uint32Array(2)],
    [new Uint32Array(8), 0, 0, new Uint8Array(8)],
  ])("refuses arguments that do not fit", (words, seed, length, hashes) => {
    expect(() => hashIds(words as Uint32Array, seed, length, hashes as Uint32Array)).toThrow(TypeError);
  });
});
