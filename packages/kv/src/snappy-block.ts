const LITERAL = 0;
const NEAR_COPY = 1;
const COPY = 2;
/** Up to here a loop is faster than a view and `set`. */
const SHORT_BYTES = 32;

/**
 * A block in the format of Snappy (`format_description.txt` of the library) as plain bytes; undefined when it is not such
 * a block or would have more than `lengthMax` bytes.
 */
export function readSnappy(packed: Uint8Array, lengthMax: number): Uint8Array | undefined {
  let at = 0;
  let length = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = packed[at++];
    if (byte === undefined || shift > 28) return undefined;
    length += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) break;
  }
  if (length > lengthMax) return undefined;
  const plain = new Uint8Array(length);
  let filled = 0;
  while (at < packed.length) {
    const tag = packed[at] as number;
    const kind = tag & 3;
    const upper = tag >> 2;
    if (kind === LITERAL) {
      const extra = upper < 60 ? 0 : upper - 59;
      const count = (extra === 0 ? upper : littleEndian(packed, at + 1, extra)) + 1;
      at += 1 + extra;
      if (filled + count > length || at + count > packed.length) return undefined;
      if (count > SHORT_BYTES) plain.set(packed.subarray(at, at + count), filled);
      else for (let i = 0; i < count; i++) plain[filled + i] = packed[at + i] as number;
      at += count;
      filled += count;
      continue;
    }
    const count = kind === NEAR_COPY ? (upper & 7) + 4 : upper + 1;
    const offsetBytes = kind === NEAR_COPY ? 1 : kind === COPY ? 2 : 4;
    const back = littleEndian(packed, at + 1, offsetBytes) + (kind === NEAR_COPY ? (tag >> 5) * 256 : 0);
    at += 1 + offsetBytes;
    if (back === 0 || back > filled || filled + count > length) return undefined;
    // Byte by byte: a copy may overlap what it writes.
    for (let i = 0; i < count; i++, filled++) plain[filled] = plain[filled - back] as number;
  }
  return filled === length ? plain : undefined;
}

/** Bytes behind the end count as zero. */
function littleEndian(bytes: Uint8Array, from: number, count: number): number {
  let value = 0;
  for (let i = count - 1; i >= 0; i--) value = value * 256 + (bytes[from + i] ?? 0);
  return value;
}
