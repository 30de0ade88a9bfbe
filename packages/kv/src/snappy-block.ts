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
    const element = readElement(packed, at);
    if (element === undefined || filled + element.length > length) return undefined;
    at = element.next;
    if (element.copyOffset === undefined) {
      if (at > packed.length) return undefined;
      plain.set(packed.subarray(at - element.length, at), filled);
    } else {
      if (element.copyOffset === 0 || element.copyOffset > filled) return undefined;
      // Byte by byte: a copy may overlap what it writes.
      for (let i = 0; i < element.length; i++) plain[filled + i] = plain[filled + i - element.copyOffset] ?? 0;
    }
    filled += element.length;
  }
  return filled === length ? plain : undefined;
}

interface Element {
  readonly length: number;
  /** How far back the bytes are; absent for a literal, whose bytes end at `next`. */
  readonly copyOffset?: number;
  readonly next: number;
}

function readElement(packed: Uint8Array, at: number): Element | undefined {
  const little = (from: number, count: number) => {
    let value = 0;
    for (let i = count - 1; i >= 0; i--) value = value * 256 + (packed[from + i] ?? 0);
    return value;
  };
  const tag = packed[at];
  if (tag === undefined) return undefined;
  const upper = tag >> 2;
  switch (tag & 3) {
    case 0: {
      const extra = upper < 60 ? 0 : upper - 59;
      const length = (extra === 0 ? upper : little(at + 1, extra)) + 1;
      return { length, next: at + 1 + extra + length };
    }
    case 1:
      return { length: (upper & 7) + 4, copyOffset: ((tag >> 5) << 8) | little(at + 1, 1), next: at + 2 };
    case 2:
      return { length: upper + 1, copyOffset: little(at + 1, 2), next: at + 3 };
    default:
      return { length: upper + 1, copyOffset: little(at + 1, 4), next: at + 5 };
  }
}
