import { POSTING_CHUNK_DOCUMENTS } from "../index-keys.js";

/**
 * Documents of one chunk, as offsets from its first one: one offset, several in ascending order, or a bitmap of 128
 * words. Never changed once it is made. Undefined stands for none.
 */
export type Container = number | Uint16Array | Uint32Array;

export const BITMAP_WORDS = POSTING_CHUNK_DOCUMENTS / 32;
/** Beyond so many offsets a bitmap is smaller. */
export const OFFSETS_MAX = POSTING_CHUNK_DOCUMENTS / 16;

const OFFSETS = 1;
const BITMAP = 2;

/** The container after a commit. An offset is in one of the two lists at most; neither has to be in order. */
export function changedContainer(
  before: Container | undefined,
  adds: readonly number[],
  removes: readonly number[],
): Container | undefined {
  if (before === undefined && adds.length === 1) return adds[0];
  if (typeof before === "number" && adds.length === 0) return removes.includes(before) ? undefined : before;
  const words = new Uint32Array(BITMAP_WORDS);
  if (before !== undefined) addToWords(before, words, 0);
  for (const offset of adds) words[offset >>> 5] = (words[offset >>> 5] ?? 0) | (1 << (offset & 31));
  for (const offset of removes) words[offset >>> 5] = (words[offset >>> 5] ?? 0) & ~(1 << (offset & 31));
  return containerOfWords(words);
}

/** The smallest form; `words` are kept when that is the bitmap. */
export function containerOfWords(words: Uint32Array): Container | undefined {
  const count = countBits(words);
  if (count === 0) return undefined;
  if (count > OFFSETS_MAX) return words;
  const offsets = new Uint16Array(count);
  let filled = 0;
  for (let at = 0; at < words.length; at++) {
    for (let rest = words[at] ?? 0; rest !== 0; rest &= rest - 1) {
      offsets[filled++] = at * 32 + 31 - Math.clz32(rest & -rest);
    }
  }
  return count === 1 ? (offsets[0] ?? 0) : offsets;
}

export function containerHas(container: Container, offset: number): boolean {
  if (typeof container === "number") return container === offset;
  if (container instanceof Uint32Array) return (((container[offset >>> 5] ?? 0) >>> (offset & 31)) & 1) === 1;
  let low = 0;
  let high = container.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((container[middle] ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return container[low] === offset;
}

/** Sets the bits of a container whose first document has its bit at word `start`. */
export function addToWords(container: Container, words: Uint32Array, start: number): void {
  if (typeof container === "number") {
    const at = start + (container >>> 5);
    words[at] = (words[at] ?? 0) | (1 << (container & 31));
  } else if (container instanceof Uint32Array) {
    for (let at = 0; at < container.length; at++) words[start + at] = (words[start + at] ?? 0) | (container[at] ?? 0);
  } else {
    for (let index = 0; index < container.length; index++) {
      const offset = container[index] ?? 0;
      const at = start + (offset >>> 5);
      words[at] = (words[at] ?? 0) | (1 << (offset & 31));
    }
  }
}

export function containerSize(container: Container): number {
  if (typeof container === "number") return 1;
  return container instanceof Uint32Array ? countBits(container) : container.length;
}

/** Offsets, ascending. */
export function offsetsOf(container: Container): readonly number[] {
  if (typeof container === "number") return [container];
  if (container instanceof Uint16Array) return Array.from(container);
  const offsets: number[] = [];
  for (let at = 0; at < container.length; at++) {
    for (let rest = container[at] ?? 0; rest !== 0; rest &= rest - 1) {
      offsets.push(at * 32 + 31 - Math.clz32(rest & -rest));
    }
  }
  return offsets;
}

/** A byte for the form, then offsets (u16) or the bitmap (u32 words), little-endian. */
export function encodeContainer(container: Container): Uint8Array {
  if (typeof container === "number") return Uint8Array.of(OFFSETS, container & 0xff, container >>> 8);
  if (container instanceof Uint32Array) {
    const bytes = Buffer.allocUnsafe(1 + container.length * 4);
    bytes[0] = BITMAP;
    for (let at = 0; at < container.length; at++) bytes.writeUInt32LE(container[at] ?? 0, 1 + at * 4);
    return bytes;
  }
  const bytes = Buffer.allocUnsafe(1 + container.length * 2);
  bytes[0] = OFFSETS;
  for (let at = 0; at < container.length; at++) bytes.writeUInt16LE(container[at] ?? 0, 1 + at * 2);
  return bytes;
}

/** Undefined when the bytes are no container as {@link encodeContainer} writes it. */
export function decodeContainer(value: Uint8Array): Container | undefined {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.length);
  if (bytes[0] === BITMAP) {
    if (bytes.length !== 1 + BITMAP_WORDS * 4) return undefined;
    return Uint32Array.from({ length: BITMAP_WORDS }, (_, at) => bytes.readUInt32LE(1 + at * 4));
  }
  const count = (bytes.length - 1) / 2;
  if (bytes[0] !== OFFSETS || count < 1 || count > OFFSETS_MAX || !Number.isInteger(count)) return undefined;
  if (count === 1) return withinChunk(bytes.readUInt16LE(1));
  const offsets = new Uint16Array(count);
  let previous = -1;
  for (let at = 0; at < count; at++) {
    const offset = bytes.readUInt16LE(1 + at * 2);
    if (offset <= previous || offset >= POSTING_CHUNK_DOCUMENTS) return undefined;
    offsets[at] = previous = offset;
  }
  return offsets;
}

function withinChunk(offset: number): number | undefined {
  return offset < POSTING_CHUNK_DOCUMENTS ? offset : undefined;
}

export function countBits(words: Uint32Array): number {
  let count = 0;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? 0;
    let bits = word - ((word >>> 1) & 0x55555555);
    bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
    bits = (bits + (bits >>> 4)) & 0x0f0f0f0f;
    count += Math.imul(bits, 0x01010101) >>> 24;
  }
  return count;
}
