import { type ObjectId, writeObjectId } from "@shoal/model";
import { hashIds } from "@shoal/native";
import { ABSENT } from "./document-chunks.js";

/** Where the hash looks up the words of a document's uuid. */
export interface IdWords {
  isId(document: number, word0: number, word1: number, word2: number, word3: number): boolean;
  word(document: number, index: 0 | 1 | 2 | 3): number;
}

const SEGMENT_BITS = 6;
const SEGMENTS = 1 << SEGMENT_BITS;
const SEGMENT_SLOTS_MIN = 8;
/** A hash of one segment that would need more is divided into all of its segments. */
const UNDIVIDED_SLOTS_MAX = 1024;

/**
 * An id that is looked up: its words, and its hash under the seed that was asked for last. Asked for in table after table,
 * as a node does, the same id is read and hashed once.
 */
export class IdProbe {
  word0 = 0;
  word1 = 0;
  word2 = 0;
  word3 = 0;
  #id: ObjectId | undefined;
  #seed: number | undefined;
  #hash = 0;
  readonly #bytes = new Uint8Array(16);
  readonly #words = new Uint32Array(this.#bytes.buffer);

  /** Takes over an id. */
  read(id: ObjectId): this {
    if (id === this.#id) return this;
    writeObjectId(id, this.#bytes);
    this.#take(id);
    return this;
  }

  /** Takes over the 16 bytes of an id. */
  readRaw(rawId: Uint8Array): this {
    this.#bytes.set(rawId);
    this.#take(undefined);
    return this;
  }

  /** The words, as an array that changes with the next id. */
  get words(): Uint32Array {
    return this.#words;
  }

  hash(seed: number): number {
    if (seed !== this.#seed) {
      this.#seed = seed;
      this.#hash = hashOf(seed, this.word0, this.word1, this.word2, this.word3);
    }
    return this.#hash;
  }

  #take(id: ObjectId | undefined): void {
    this.#id = id;
    this.#seed = undefined;
    this.word0 = this.#words[0] ?? 0;
    this.word1 = this.#words[1] ?? 0;
    this.word2 = this.#words[2] ?? 0;
    this.word3 = this.#words[3] ?? 0;
  }
}

/** The id that was looked up last, in whatever table: a node asks all of its shards for the same one. */
export const lastProbe = new IdProbe();

interface Segment {
  /** Document + 1 a slot, 0 when free; linear probing, a power of two long. */
  slots: Uint32Array;
  used: number;
}

/**
 * uuid to document id: open addressing over 64 segments that grow one by one, so that no single call rehashes more than
 * a 64th of the table. The uuids themselves stay where `words` has them; a slot is 4 bytes. A small hash is one segment:
 * a node looks for an id in hundreds of them, and what it has to look at should stay in the processor's cache.
 */
export class IdHash {
  #segments: Segment[] = [newSegment(SEGMENT_SLOTS_MIN)];
  /** Bits of a hash's upper end that choose the segment. */
  #segmentMask = 0;
  readonly #words: IdWords;
  readonly #seed: number;

  /** `seed`: any number; secret, it keeps clients from choosing uuids that collide. */
  constructor(words: IdWords, seed: number) {
    this.#words = words;
    this.#seed = seed | 0;
  }

  /** Makes room for so many documents; for an empty hash. */
  reserve(documents: number): void {
    const isDivided = documents * 3 > UNDIVIDED_SLOTS_MAX * 2;
    const count = isDivided ? SEGMENTS : 1;
    // Uneven segments grow once more by themselves.
    const slots = 2 ** Math.ceil(Math.log2((documents / count) * 1.6 + SEGMENT_SLOTS_MIN));
    this.#segmentMask = count - 1;
    this.#segments = Array.from({ length: count }, () => newSegment(slots));
  }

  /** The document of the probe's id, or -1. */
  find(probe: IdProbe): number {
    const hash = probe.hash(this.#seed);
    const { word0, word1, word2, word3 } = probe;
    const { slots } = this.#segment(hash);
    const mask = slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const entry = slots[slot] ?? 0;
      if (entry === 0) return -1;
      if (this.#words.isId(entry - 1, word0, word1, word2, word3)) return entry - 1;
    }
  }

  /** Adds a document whose words are in place and that is not in the table. */
  add(document: number): void {
    this.#add(document, this.#hashOf(document));
  }

  /** Adds documents from `first` on, as `DocumentChunks.eachRun` gives them. */
  addRun(first: number, words: Uint32Array, links: Uint32Array): void {
    const hashes = hashesOf(words, this.#seed);
    for (let at = 0; at < links.length; at++) if (links[at] !== ABSENT) this.#add(first + at, hashes[at] ?? 0);
  }

  #add(document: number, hash: number): void {
    const segment = this.#segment(hash);
    if ((segment.used + 1) * 3 <= segment.slots.length * 2) {
      place(segment, hash, document);
    } else if (this.#segmentMask === 0 && segment.slots.length >= UNDIVIDED_SLOTS_MAX) {
      this.#divide(segment);
      this.#add(document, hash);
    } else {
      this.#enlarge(segment);
      place(segment, hash, document);
    }
  }

  /** Takes a document out whose words are still in place. */
  remove(document: number): void {
    const hash = this.#hashOf(document);
    const segment = this.#segment(hash);
    const { slots } = segment;
    const mask = slots.length - 1;
    let hole = hash & mask;
    while (slots[hole] !== document + 1) {
      if (slots[hole] === 0) return;
      hole = (hole + 1) & mask;
    }
    segment.used -= 1;
    // Backward shift: what probed past the hole moves into it, so that no tombstones are needed.
    for (let slot = (hole + 1) & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const home = this.#hashOf((slots[slot] ?? 0) - 1) & mask;
      if (((slot - home) & mask) < ((slot - hole) & mask)) continue;
      slots[hole] = slots[slot] ?? 0;
      hole = slot;
    }
    slots[hole] = 0;
  }

  memoryBytes(): number {
    return this.#segments.reduce((sum, segment) => sum + segment.slots.byteLength, 0);
  }

  #segment(hash: number): Segment {
    const segment = this.#segments[(hash >>> (32 - SEGMENT_BITS)) & this.#segmentMask];
    if (segment === undefined) throw new RangeError(`no segment for hash ${hash}`);
    return segment;
  }

  #enlarge(segment: Segment): void {
    const { slots } = segment;
    segment.slots = new Uint32Array(slots.length * 2);
    segment.used = 0;
    for (const entry of slots) if (entry !== 0) place(segment, this.#hashOf(entry - 1), entry - 1);
  }

  #divide({ slots }: Segment): void {
    this.#segmentMask = SEGMENTS - 1;
    this.#segments = Array.from({ length: SEGMENTS }, () => newSegment((2 * slots.length) / SEGMENTS));
    for (const entry of slots) if (entry !== 0) this.add(entry - 1);
  }

  #hashOf(document: number): number {
    const words = this.#words;
    return hashOf(
      this.#seed,
      words.word(document, 0),
      words.word(document, 1),
      words.word(document, 2),
      words.word(document, 3),
    );
  }
}

function newSegment(slots: number): Segment {
  return { slots: new Uint32Array(slots), used: 0 };
}

/** The hashes of ids, four words each, as `IdProbe.hash` computes them. */
export function hashesOf(words: Uint32Array, seed: number): Uint32Array {
  const hashes = new Uint32Array(words.length / 4);
  hashIds(words, seed >>> 0, 0, hashes);
  return hashes;
}

/** Four rounds of murmur3's 32-bit mixing and its finalizer (Austin Appleby, public domain). */
function hashOf(seed: number, word0: number, word1: number, word2: number, word3: number): number {
  let hash = mix(mix(mix(mix(seed, word0), word1), word2), word3);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function mix(hash: number, word: number): number {
  let mixed = Math.imul(word, 0xcc9e2d51);
  mixed = Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
  const rotated = hash ^ mixed;
  return (Math.imul((rotated << 13) | (rotated >>> 19), 5) + 0xe6546b64) | 0;
}

/** Into a segment that has room. */
function place(segment: Segment, hash: number, document: number): void {
  const { slots } = segment;
  segment.used += 1;
  const mask = slots.length - 1;
  let slot = hash & mask;
  while (slots[slot] !== 0) slot = (slot + 1) & mask;
  slots[slot] = document + 1;
}
