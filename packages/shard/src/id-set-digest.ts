import { hashIds } from "@shoal/native";
import { ABSENT } from "./document-chunks.js";

/*
 * The number of ids in a set and, in two lanes of 32 bits, the sum of their hashes: MurmurHash3 x86-32 of the 16 bytes,
 * with seed 0 in the one lane and 1 in the other. Part of the data format.
 */
const SEEDS = [0, 1] as const;
const ID_BYTES = 16;

/**
 * A set of ids in three numbers: equal sets have equal ones, whatever way they came about, and different ones have them
 * with a chance of one in 2^64.
 */
export class IdSetDigest {
  constructor(
    public count = 0,
    public low = 0,
    public high = 0,
  ) {}

  /** `rawId`: the 16 bytes of an id that is not in the set. */
  add(rawId: Uint8Array): void {
    this.addWords(wordAt(rawId, 0), wordAt(rawId, 4), wordAt(rawId, 8), wordAt(rawId, 12));
  }

  /** The id as four little-endian words. */
  addWords(word0: number, word1: number, word2: number, word3: number): void {
    this.count += 1;
    this.low = (this.low + hash(SEEDS[0], word0, word1, word2, word3)) >>> 0;
    this.high = (this.high + hash(SEEDS[1], word0, word1, word2, word3)) >>> 0;
  }

  /** Many ids that are not in the set, as `DocumentChunks.eachRun` gives them. */
  addRun(words: Uint32Array, links: Uint32Array): void {
    const hashes = new Uint32Array(links.length);
    const sumOf = (seed: number): number => {
      hashIds(words, seed, ID_BYTES, hashes);
      let sum = 0;
      for (let at = 0; at < links.length; at++) if (links[at] !== ABSENT) sum = (sum + (hashes[at] ?? 0)) >>> 0;
      return sum;
    };
    this.low = (this.low + sumOf(SEEDS[0])) >>> 0;
    this.high = (this.high + sumOf(SEEDS[1])) >>> 0;
    for (let at = 0; at < links.length; at++) if (links[at] !== ABSENT) this.count += 1;
  }

  /** `rawId`: the 16 bytes of an id that is in the set. */
  remove(rawId: Uint8Array): void {
    const [word0, word1, word2, word3] = [wordAt(rawId, 0), wordAt(rawId, 4), wordAt(rawId, 8), wordAt(rawId, 12)];
    this.count -= 1;
    this.low = (this.low - hash(SEEDS[0], word0, word1, word2, word3)) >>> 0;
    this.high = (this.high - hash(SEEDS[1], word0, word1, word2, word3)) >>> 0;
  }

  copy(): IdSetDigest {
    return new IdSetDigest(this.count, this.low, this.high);
  }

  equals(other: IdSetDigest): boolean {
    return this.count === other.count && this.low === other.low && this.high === other.high;
  }
}

function wordAt(rawId: Uint8Array, at: number): number {
  return (rawId[at] ?? 0) | ((rawId[at + 1] ?? 0) << 8) | ((rawId[at + 2] ?? 0) << 16) | ((rawId[at + 3] ?? 0) << 24);
}

function hash(seed: number, word0: number, word1: number, word2: number, word3: number): number {
  let state = mixed(mixed(mixed(mixed(seed, word0), word1), word2), word3) ^ ID_BYTES;
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return (state ^ (state >>> 16)) >>> 0;
}

function mixed(state: number, word: number): number {
  const other = state ^ Math.imul(rotated(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593);
  return (Math.imul(rotated(other, 13), 5) + 0xe6546b64) | 0;
}

function rotated(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}
