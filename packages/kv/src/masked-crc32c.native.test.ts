import { expect, it } from "vitest";
import { maskedCrc32c } from "./masked-crc32c.js";

it("masks the published CRC-32C as RocksDB does", () => {
  // ((crc >> 15) | (crc << 17)) + 0xa282ead8, modulo 2^32, of 0xe3069283 (RFC 3720, section B.4).
  const masked = Number((((0xe3069283n >> 15n) | (0xe3069283n << 17n)) + 0xa282ead8n) & 0xffffffffn);
  expect(maskedCrc32c(Buffer.from("..123456789."), 2, 11)).toBe(masked);
});
