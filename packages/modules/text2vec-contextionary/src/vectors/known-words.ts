import { eachRun, runsOf } from "@shoal/model";
import type { Work } from "@shoal/runtime";
import type { Vocabulary } from "../vocabulary/word-table.js";
import type { Extension } from "./extension.js";
import { STOP_WORDS } from "./stop-words.js";

/** Words after which the work yields: some milliseconds. */
export const STEP_WORDS = 2_000;

/** A word that a corpus is made of. Its vector stands in `numbers` from `start` on: a view would cost more than the look-up. */
export interface KnownWord {
  readonly concept: string;
  readonly numbers: Float32Array;
  readonly start: number;
  readonly occurrence: number;
}

/** The words that there are: those that users taught, then those of the vocabulary. */
export class KnownWords {
  readonly #vocabulary: Vocabulary;
  readonly #extensions: () => ReadonlyMap<string, Extension>;

  constructor(vocabulary: Vocabulary, extensions: () => ReadonlyMap<string, Extension>) {
    this.#vocabulary = vocabulary;
    this.#extensions = extensions;
  }

  /** Of every vector. */
  get dimensions(): number {
    return this.#vocabulary.dimensions;
  }

  find(word: string): KnownWord | undefined {
    return this.#find(word, this.#extensions());
  }

  /** A view: not to be changed. */
  vectorOf(word: string): Float32Array | undefined {
    return this.#view(this.find(word));
  }

  /** The same as texts are made of it: undefined for a stop word that nobody taught. */
  vectorInText(word: string): Float32Array | undefined {
    return this.#view(this.#findInText(word, this.#extensions()));
  }

  /**
   * The known words of a text, in order; stop words that nobody taught are left out. Neighbouring words that together are a
   * taught concept (`_` between them) count as that, the longest first.
   */
  *inText(text: string): Work<readonly KnownWord[]> {
    const words = text.length <= STEP_CHARS ? wordsOf(text) : yield* wordsInSteps(text);
    const found: KnownWord[] = [];
    const extensions = this.#extensions();
    const longest = longestConcept(extensions);
    for (let at = 0, steps = 1; at < words.length; steps++) {
      if (steps % STEP_WORDS === 0) yield;
      let taken = 1;
      let known: KnownWord | undefined;
      for (let length = Math.min(longest, words.length - at); length > 1 && known === undefined; length--) {
        const concept = words.slice(at, at + length).join("_");
        if (!extensions.has(concept)) continue;
        known = this.#find(concept, extensions);
        taken = length;
      }
      known ??= this.#findInText(words[at] ?? "", extensions);
      if (known !== undefined) found.push(known);
      at += taken;
    }
    return found;
  }

  #findInText(word: string, extensions: ReadonlyMap<string, Extension>): KnownWord | undefined {
    return extensions.has(word) || !STOP_WORDS.has(word) ? this.#find(word, extensions) : undefined;
  }

  #find(word: string, extensions: ReadonlyMap<string, Extension>): KnownWord | undefined {
    const extension = extensions.get(word);
    const { words, matrix, dimensions } = this.#vocabulary;
    // What was taught to a contextionary with vectors of another length says nothing here.
    if (extension?.vector.length === dimensions) {
      return { concept: word, numbers: extension.vector, start: 0, occurrence: extension.occurrence };
    }
    const number = words.find(word);
    if (number < 0) return undefined;
    const occurrence = this.#vocabulary.occurrence(number);
    return { concept: word, numbers: matrix, start: number * dimensions, occurrence };
  }

  #view(known: KnownWord | undefined): Float32Array | undefined {
    return known?.numbers.subarray(known.start, known.start + this.dimensions);
  }
}

const WORDS = /[\p{L}\p{N}]+/gu;

/** Longer texts are cut into words in steps. */
const STEP_CHARS = 8 * STEP_WORDS;

/** As {@link wordsOf}. */
function* wordsInSteps(text: string): Work<readonly string[]> {
  const words: string[] = [];
  for (const word of eachRun(text.toLowerCase(), WORDS)) {
    if (word !== undefined) words.push(word);
    if (word === undefined || words.length % STEP_WORDS === 0) yield;
  }
  return words;
}

/** Runs of letters and digits, in lower case. */
export function wordsOf(text: string): readonly string[] {
  return runsOf(text.toLowerCase(), WORDS);
}

const longestConcepts = new WeakMap<ReadonlyMap<string, Extension>, number>();

/** In words. Counted once a state of the extensions. */
function longestConcept(extensions: ReadonlyMap<string, Extension>): number {
  let longest = longestConcepts.get(extensions);
  if (longest === undefined) {
    longest = 1;
    for (const concept of extensions.keys()) longest = Math.max(longest, concept.split("_").length);
    longestConcepts.set(extensions, longest);
  }
  return longest;
}
