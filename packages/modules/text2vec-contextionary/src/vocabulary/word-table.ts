/** Occurrences of the most frequent word, as if the texts that the vectors were made of had so many of it. */
const OCCURRENCES_MAX = 10_000_000;

/** Longer words are in no vocabulary. */
const WORD_BYTES_MAX = 128;

/** Slots of a table for so many words: a power of two, at most a third full. */
export function slotCount(words: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, words) * 3));
}

/**
 * Words by number and numbers by word, in three arrays that are kept as they stand in a file: the words in UTF-8 one behind
 * the other, where each ends, and an open-addressed hash table (FNV-1a, linear probing) of their numbers plus one.
 */
export class WordTable {
  readonly #bytes: Buffer;
  readonly #ends: Uint32Array;
  readonly #slots: Uint32Array;
  readonly #scratch = Buffer.alloc(WORD_BYTES_MAX * 3);

  constructor(bytes: Buffer, ends: Uint32Array, slots: Uint32Array) {
    this.#bytes = bytes;
    this.#ends = ends;
    this.#slots = slots;
  }

  /** Of two equal words the first one is found. */
  static fill(bytes: Buffer, ends: Uint32Array, slots: Uint32Array): void {
    const mask = slots.length - 1;
    for (const [word, end] of ends.entries()) {
      let at = hashOf(bytes, ends[word - 1] ?? 0, end) & mask;
      while (slots[at] !== 0) at = (at + 1) & mask;
      slots[at] = word + 1;
    }
  }

  get size(): number {
    return this.#ends.length;
  }

  word(number: number): string {
    return this.#bytes.toString("utf8", this.#ends[number - 1] ?? 0, this.#ends[number]);
  }

  /** The number of a word, -1 when it is not there. */
  find(word: string): number {
    if (word.length > WORD_BYTES_MAX) return -1;
    const length = this.#write(word);
    const mask = this.#slots.length - 1;
    for (let at = hashOf(this.#scratch, 0, length) & mask; this.#slots[at] !== 0; at = (at + 1) & mask) {
      const number = (this.#slots[at] ?? 0) - 1;
      if (this.#isWord(number, length)) return number;
    }
    return -1;
  }

  /** Puts a word into the scratch and tells its bytes. Most are ASCII: a call of the runtime would cost more than all else. */
  #write(word: string): number {
    for (let at = 0; at < word.length; at++) {
      const code = word.charCodeAt(at);
      if (code > 0x7f) return this.#scratch.write(word);
      this.#scratch[at] = code;
    }
    return word.length;
  }

  /** Whether the word of that number stands in the scratch. */
  #isWord(number: number, length: number): boolean {
    const start = this.#ends[number - 1] ?? 0;
    if ((this.#ends[number] ?? 0) - start !== length) return false;
    for (let i = 0; i < length; i++) if (this.#bytes[start + i] !== this.#scratch[i]) return false;
    return true;
  }
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  // The lower bits alone would hardly tell short words apart.
  return (hash ^ (hash >>> 15)) >>> 0;
}

/** Words with vectors, most frequent first. */
export class Vocabulary {
  constructor(
    readonly words: WordTable,
    /** Row after row, as published: not normalised. */
    readonly matrix: Float32Array,
    readonly dimensions: number,
  ) {}

  get size(): number {
    return this.words.size;
  }

  /** A view: not to be changed. */
  vector(number: number): Float32Array {
    return this.matrix.subarray(number * this.dimensions, (number + 1) * this.dimensions);
  }

  /** The vectors come without counts of their words, but in order of them: by Zipf's law the count falls with the rank. */
  occurrence(number: number): number {
    return Math.max(1, Math.round(OCCURRENCES_MAX / (number + 1)));
  }
}
