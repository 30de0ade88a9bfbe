import { expect, it } from "vitest";
import { crc32c, maskedCrc32c } from "./crc32c.js";

// RFC 3720, section B.4.
it.each([
  [Buffer.alloc(32, 0), 0x8a9136aa],
  [Buffer.alloc(32, 0xff), 0x62a8ab43],
  [Buffer.from(Array.from({ length: 32 }, (_, i) => i)), 0x46dd794e],
  [Buffer.from(Array.from({ length: 32 }, (_, i) => 31 - i)), 0x113fdb5c],
  [Buffer.from("123456789"), 0xe3069283],
])("gives the published CRC-32C", (bytes, expected) => {
  expect(crc32c(bytes, 0, bytes.length)).toBe(expected);
});

it("goes on from any point, at any alignment", () => {
  const bytes = Buffer.from(Array.from({ length: 100 }, (_, i) => (i * 37) & 0xff));
  const whole = crc32c(bytes, 3, 97);
  for (let split = 3; split <= 97; split++) {
    expect(crc32c(bytes, split, 97, crc32c(bytes, 3, split))).toBe(whole);
  }
});

it("masks as RocksDB does", () => {
  // ((crc >> 15) | (crc << 17)) + 0xa282ead8, modulo 2^32, of 0xe3069283.
  expect(maskedCrc32c(0xe3069283)).toBe(
    Number((((0xe3069283n >> 15n) | (0xe3069283n << 17n)) + 0xa282ead8n) & 0xffffffffn),
  );
});
