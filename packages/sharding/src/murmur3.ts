/**
 * murmur3 x64-128 with seed 0, of which the first 64 bits are used, over raw bytes. Source: Austin Appleby's
 * MurmurHash3_x64_128 (public domain), block reads little-endian; test vectors in the reference, section 5.3.
 *
 * Computed in 32-bit halves: BigInt costs about twenty times as much, and this runs once for each routed object.
 * Halves are signed 32-bit integers, which V8 keeps unboxed.
 */
export interface Hash64 {
  readonly high: number;
  readonly low: number;
}

// c1 = 0x87c37b91114253d5, c2 = 0x4cf5ad432745937f
const C1_HIGH = 0x87c37b91 | 0;
const C1_LOW = 0x114253d5 | 0;
const C2_HIGH = 0x4cf5ad43 | 0;
const C2_LOW = 0x2745937f | 0;
// The two constants of the finalizer: 0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53
const F1_HIGH = 0xff51afd7 | 0;
const F1_LOW = 0xed558ccd | 0;
const F2_HIGH = 0xc4ceb9fe | 0;
const F2_LOW = 0x1a85ec53 | 0;

const BLOCK_BYTES = 16;

/** High half of the last result of a function below; the low half is what the function returns. */
let resultHigh = 0;

/** The 64 bits as two unsigned 32-bit halves, for input of any length. */
export function murmur3Halves(bytes: Uint8Array): Hash64 {
  let h1High = 0;
  let h1Low = 0;
  let h2High = 0;
  let h2Low = 0;
  const blocksEnd = bytes.length - (bytes.length % BLOCK_BYTES);
  for (let at = 0; at < blocksEnd; at += BLOCK_BYTES) {
    const k1Low = mixFirst(word(bytes, at + 4), word(bytes, at));
    h1Low = advanceFirst(h1High ^ resultHigh, h1Low ^ k1Low, h2High, h2Low);
    h1High = resultHigh;
    const k2Low = mixSecond(word(bytes, at + 12), word(bytes, at + 8));
    h2Low = advanceSecond(h2High ^ resultHigh, h2Low ^ k2Low, h1High, h1Low);
    h2High = resultHigh;
  }
  const tail = bytes.length - blocksEnd;
  if (tail > 8) {
    h2Low ^= mixSecond(word(bytes, blocksEnd + 12), word(bytes, blocksEnd + 8));
    h2High ^= resultHigh;
  }
  if (tail > 0) {
    h1Low ^= mixFirst(word(bytes, blocksEnd + 4), word(bytes, blocksEnd));
    h1High ^= resultHigh;
  }
  const low = finish(h1High, h1Low, h2High, h2Low, bytes.length);
  return { high: resultHigh >>> 0, low: low >>> 0 };
}

/**
 * The hash of exactly 16 bytes, written to `target` as `[high, low]` (unsigned). The path on which every object is
 * routed: nothing is allocated.
 */
export function murmur3Block(bytes: Uint8Array, target: Uint32Array): void {
  const k1Low = mixFirst(word(bytes, 4), word(bytes, 0));
  const h1Low = advanceFirst(resultHigh, k1Low, 0, 0);
  const h1High = resultHigh;
  const k2Low = mixSecond(word(bytes, 12), word(bytes, 8));
  const h2Low = advanceSecond(resultHigh, k2Low, h1High, h1Low);
  target[1] = finish(h1High, h1Low, resultHigh, h2Low, BLOCK_BYTES);
  target[0] = resultHigh;
}

/** k1 *= c1; k1 = rotl(k1, 31); k1 *= c2 */
function mixFirst(high: number, low: number): number {
  const kLow = multiply(high, low, C1_HIGH, C1_LOW);
  const kHigh = resultHigh;
  return multiply((kHigh << 31) | (kLow >>> 1), (kLow << 31) | (kHigh >>> 1), C2_HIGH, C2_LOW);
}

/** k2 *= c2; k2 = rotl(k2, 33); k2 *= c1 */
function mixSecond(high: number, low: number): number {
  const kLow = multiply(high, low, C2_HIGH, C2_LOW);
  const kHigh = resultHigh;
  return multiply((kLow << 1) | (kHigh >>> 31), (kHigh << 1) | (kLow >>> 31), C1_HIGH, C1_LOW);
}

/** h1 = rotl(h1, 27); h1 += h2; h1 = h1 * 5 + 0x52dce729 */
function advanceFirst(high: number, low: number, otherHigh: number, otherLow: number): number {
  const sumLow = add((high << 27) | (low >>> 5), (low << 27) | (high >>> 5), otherHigh, otherLow);
  const productLow = multiply(resultHigh, sumLow, 0, 5);
  return add(resultHigh, productLow, 0, 0x52dce729);
}

/** h2 = rotl(h2, 31); h2 += h1; h2 = h2 * 5 + 0x38495ab5 */
function advanceSecond(high: number, low: number, otherHigh: number, otherLow: number): number {
  const sumLow = add((high << 31) | (low >>> 1), (low << 31) | (high >>> 1), otherHigh, otherLow);
  const productLow = multiply(resultHigh, sumLow, 0, 5);
  return add(resultHigh, productLow, 0, 0x38495ab5);
}

/** Mixes in the length and both halves of the state; the result is h1. */
function finish(h1High: number, h1Low: number, h2High: number, h2Low: number, length: number): number {
  const secondLow = h2Low ^ length;
  const firstLow = add(h1High, h1Low ^ length, h2High, secondLow);
  const firstHigh = resultHigh;
  const sumLow = add(h2High, secondLow, firstHigh, firstLow);
  const sumHigh = resultHigh;
  const aLow = avalanche(firstHigh, firstLow);
  const aHigh = resultHigh;
  const bLow = avalanche(sumHigh, sumLow);
  return add(aHigh, aLow, resultHigh, bLow);
}

/** k ^= k >>> 33; k *= f1; k ^= k >>> 33; k *= f2; k ^= k >>> 33 */
function avalanche(high: number, low: number): number {
  const firstLow = multiply(high, low ^ (high >>> 1), F1_HIGH, F1_LOW);
  const firstHigh = resultHigh;
  const secondLow = multiply(firstHigh, firstLow ^ (firstHigh >>> 1), F2_HIGH, F2_LOW);
  return secondLow ^ (resultHigh >>> 1);
}

function add(aHigh: number, aLow: number, bHigh: number, bLow: number): number {
  const low = (aLow + bLow) | 0;
  const carry = low >>> 0 < aLow >>> 0 ? 1 : 0;
  resultHigh = (aHigh + bHigh + carry) | 0;
  return low;
}

/** The low 64 bits of the product; the high half of low times low is put together from 16-bit pieces. */
function multiply(aHigh: number, aLow: number, bHigh: number, bLow: number): number {
  const a0 = aLow & 0xffff;
  const a1 = aLow >>> 16;
  const b0 = bLow & 0xffff;
  const b1 = bLow >>> 16;
  // 65535 * 65535 + 65535 is below 2^32: neither sum overflows 32 bits read unsigned.
  const upper = (Math.imul(a1, b0) + (Math.imul(a0, b0) >>> 16)) | 0;
  const cross = (Math.imul(a0, b1) + (upper & 0xffff)) | 0;
  const carry = (Math.imul(a1, b1) + (upper >>> 16) + (cross >>> 16)) | 0;
  resultHigh = (Math.imul(aHigh, bLow) + Math.imul(aLow, bHigh) + carry) | 0;
  return Math.imul(aLow, bLow);
}

/** The four bytes at `at` as a little-endian signed integer; what lies behind the end counts as zero. */
function word(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
}

/** Bytes of the name that is hashed; names nearly always have the same length. */
let bytes = new Uint8Array(12);

/** The bound of a virtual shard on the hash ring: murmur3 of its ASCII name (reference-rest 5.2), as two halves. */
export function virtualBound(name: string): Hash64 {
  if (bytes.length !== name.length) bytes = new Uint8Array(name.length);
  for (let i = 0; i < name.length; i++) bytes[i] = name.charCodeAt(i);
  return murmur3Halves(bytes);
}
