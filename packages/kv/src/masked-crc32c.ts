import { crc32c } from "@shoal/native";

/** The checksum of `bytes[from..to)` in the form in which RocksDB stores it (`util/crc32c.h`, `Mask`). */
export function maskedCrc32c(bytes: Uint8Array, from: number, to: number): number {
  const crc = crc32c(bytes, from, to, 0);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
