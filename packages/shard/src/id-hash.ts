/** Where the hash looks up the words of a document's uuid. */
export interface IdWords {
  isId(document: number, word0: number, word1: number, word2: number, word3: number): boolean;
  word(document: number, index: 0 | 1 | 2 | 3): number;
}

const SEGMENT_BITS = 6;
const SEGMENT_SLOTS_MIN = 8;

interface Segment {
  /** Document + 1 a slot, 0 when free; linear probing, a power of two long. */
  slots: Uint32Array;
  used: number;
}

/**
 * uuid to document id: open addressing over 64 segments that grow one by one, so that no single call rehashes more than
 * a 64th of the table. The uuids themselves stay where `words` has them; a slot is 4 bytes.
 */
export class IdHash {
  readonly #segments: Segment[] = Array.from({ length: 1 << SEGMENT_BITS }, () => ({
    slots: new Uint32Array(SEGMENT_SLOTS_MIN),
    used: 0,
  }));
  readonly #words: IdWords;
  readonly #seed: number;

  /** `seed`: any number; secret, it keeps clients from choosing uuids that collide. */
  constructor(words: IdWords, seed: number) {
    this.#words = words;
    this.#seed = seed | 0;
  }

  /** Makes room for so many documents; for an empty hash. */
  reserve(documents: number): void {
    // Uneven segments grow once more by themselves.
    const slots = 2 ** Math.ceil(Math.log2((documents / this.#segments.length) * 1.6 + SEGMENT_SLOTS_MIN));
    for (const segment of this.#segments) segment.slots = new Uint32Array(slots);
  }

  /** The document with these words, or -1. */
  find(word0: number, word1: number, word2: number, word3: number): number {
    const hash = this.#hash(word0, word1, word2, word3);
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
    const hash = this.#hashOf(document);
    const segment = this.#segment(hash);
    segment.used += 1;
    if (segment.used * 3 > segment.slots.length * 2) this.#enlarge(segment);
    place(segment.slots, hash, document);
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
    const segment = this.#segments[hash >>> (32 - SEGMENT_BITS)];
    if (segment === undefined) throw new RangeError(`no segment for hash ${hash}`);
    return segment;
  }

  #enlarge(segment: Segment): void {
    const slots = new Uint32Array(segment.slots.length * 2);
    for (const entry of segment.slots) {
      if (entry !== 0) place(slots, this.#hashOf(entry - 1), entry - 1);
    }
    segment.slots = slots;
  }

  #hashOf(document: number): number {
    const words = this.#words;
    return this.#hash(
      words.word(document, 0),
      words.word(document, 1),
      words.word(document, 2),
      words.word(document, 3),
    );
  }

  /** Four rounds of murmur3's 32-bit mixing and its finalizer (Austin Appleby, public domain). */
  #hash(word0: number, word1: number, word2: number, word3: number): number {
    let hash = mix(mix(mix(mix(this.#seed, word0), word1), word2), word3);
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return (hash ^ (hash >>> 16)) >>> 0;
  }
}

function mix(hash: number, word: number): number {
  let mixed = Math.imul(word, 0xcc9e2d51);
  mixed = Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
  const rotated = hash ^ mixed;
  return (Math.imul((rotated << 13) | (rotated >>> 19), 5) + 0xe6546b64) | 0;
}

function place(slots: Uint32Array, hash: number, document: number): void {
  const mask = slots.length - 1;
  let slot = hash & mask;
  while (slots[slot] !== 0) slot = (slot + 1) & mask;
  slots[slot] = document + 1;
}
