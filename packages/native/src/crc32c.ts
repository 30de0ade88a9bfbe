import { addon } from "./addon.js";

type Crc = (bytes: Uint8Array, from: number, to: number, before: number) => number;

const native = addon as { readonly crc32c: Crc; readonly crc32cPortable: Crc };

/**
 * CRC-32C (Castagnoli) of `bytes[from..to)`, going on from the CRC of what is before them, 0 at the start. Throws a
 * TypeError when the range is not in the bytes.
 */
export const crc32c: Crc = native.crc32c;

/** The same by tables, as on a machine without an instruction for it. */
export const crc32cPortable: Crc = native.crc32cPortable;
