import { describe, expect, it } from "vitest";
import { readSnappy } from "./snappy-block.js";

const unpack = (packed: readonly number[], max = 1000) => {
  const plain = readSnappy(Uint8Array.from(packed), max);
  return plain === undefined ? undefined : Buffer.from(plain).toString("latin1");
};
const ascii = (text: string) => [...Buffer.from(text, "latin1")];

describe("readSnappy", () => {
  it("reads literals and copies of every form", () => {
    expect(unpack([0])).toBe("");
    expect(unpack([3, 2 << 2, ...ascii("abc")])).toBe("abc");
    // Copy with one byte of offset: length 4, 3 back, overlapping what it writes.
    expect(unpack([7, 2 << 2, ...ascii("abc"), 0b00000001, 3])).toBe("abcabca");
    // Two bytes of offset: length 3, 2 back.
    expect(unpack([5, 1 << 2, ...ascii("ab"), (2 << 2) | 2, 2, 0])).toBe("ababa");
    // Four bytes of offset.
    expect(unpack([5, 1 << 2, ...ascii("ab"), (2 << 2) | 3, 2, 0, 0, 0])).toBe("ababa");
    // A literal whose length stands in a byte of its own.
    const long = "x".repeat(70);
    expect(unpack([70, 60 << 2, 69, ...ascii(long)])).toBe(long);
  });

  it.each([
    [[], "nothing"],
    [[0x80], "a length without an end"],
    [[3, 2 << 2, 97], "a literal that is cut off"],
    [[4, 0, 97, 0b00000001, 2], "a copy from before the start"],
    [[4, 0, 97, 0b00000001, 0], "a copy from nowhere"],
    [[2, 2 << 2, 97, 97, 97], "more than announced"],
    [[9, 2 << 2, 97, 97, 97], "less than announced"],
    [[0xe9, 0x07, 0], "more than allowed"],
  ])("refuses %j: %s", (packed) => {
    expect(unpack(packed)).toBeUndefined();
  });
});
