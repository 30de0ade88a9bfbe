import type { WordTable } from "./word-table.js";

/** Occurrences of the most frequent word, as if the texts that the vectors were made of had so many of it. */
const OCCURRENCES_MAX = 10_000_000;

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
