import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { crc32c, crc32cPortable } from "./crc32c.js";

describe.each([
  ["of this machine", crc32c],
  ["portable", crc32cPortable],
])("CRC-32C, %s", (_, crc) => {
  // RFC 3720, section B.4.
  it.each([
    [Buffer.alloc(32, 0), 0x8a9136aa],
    [Buffer.alloc(32, 0xff), 0x62a8ab43],
    [Buffer.from(Array.from({ length: 32 }, (_, i) => i)), 0x46dd794e],
    [Buffer.from(Array.from({ length: 32 }, (_, i) => 31 - i)), 0x113fdb5c],
    [Buffer.from("123456789"), 0xe3069283],
    [Buffer.alloc(0), 0],
  ])("is what is published", (bytes, expected) => {
    expect(crc(bytes, 0, bytes.length, 0)).toBe(expected);
  });

  it("goes on from any point, at any alignment, the same by both ways", () => {
    const bytes = randomBytes(100);
    const whole = crc(bytes, 3, 97, 0);
    for (let split = 3; split <= 97; split++) {
      expect(crc(bytes, split, 97, crc32cPortable(bytes, 3, split, 0))).toBe(whole);
    }
  });

  it.each([
    [5, 4],
    [0, 11],
    [-1, 4],
  ])("refuses the range %d to %d of 10 bytes", (from, to) => {
    expect(() => crc(Buffer.alloc(10), from, to, 0)).toThrow(TypeError);
  });
});
