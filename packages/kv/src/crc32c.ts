/**
 * CRC-32C (Castagnoli, reflected polynomial 0x82f63b78), eight bytes a step by eight tables ("slicing-by-8", Kounavis and
 * Berry 2005). RocksDB checksums its files with it.
 */
const T0 = firstTable();
const T1 = nextTable(T0);
const T2 = nextTable(T1);
const T3 = nextTable(T2);
const T4 = nextTable(T3);
const T5 = nextTable(T4);
const T6 = nextTable(T5);
const T7 = nextTable(T6);

function firstTable(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
    return crc;
  });
}

/** The CRCs of one more byte of zeros. */
function nextTable(table: Uint32Array): Uint32Array {
  return table.map((crc) => (crc >>> 8) ^ (T0[crc & 0xff] as number));
}

/** CRC-32C of `bytes[from..to)`, going on from the CRC of what is before them. */
export function crc32c(bytes: Uint8Array, from: number, to: number, before = 0): number {
  let crc = ~before;
  let at = from;
  for (; at + 8 <= to; at += 8) {
    const low =
      crc ^
      ((bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24));
    crc =
      (T7[low & 0xff] as number) ^
      (T6[(low >>> 8) & 0xff] as number) ^
      (T5[(low >>> 16) & 0xff] as number) ^
      (T4[low >>> 24] as number) ^
      (T3[bytes[at + 4] as number] as number) ^
      (T2[bytes[at + 5] as number] as number) ^
      (T1[bytes[at + 6] as number] as number) ^
      (T0[bytes[at + 7] as number] as number);
  }
  for (; at < to; at++) crc = (crc >>> 8) ^ (T0[(crc ^ (bytes[at] as number)) & 0xff] as number);
  return ~crc >>> 0;
}

/** The form in which RocksDB stores a CRC (`util/crc32c.h`, `Mask`). */
export function maskedCrc32c(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
