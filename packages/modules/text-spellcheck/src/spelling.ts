import { runsOf } from "@shoal/model";
import dictionary from "dictionary-en";
import nspell from "nspell";
import { mostLikely } from "./most-likely.js";
import type { Change } from "./speller.js";

/** Misspelt words of one request that are looked up; each takes some hundredths of a second. */
const LOOKUPS_MAX = 32;
/** What is longer has no likely correction, but takes the longest to find none. */
const WORD_CHARS_MAX = 24;
const RUN_CHARS_MAX = 1_000;
const REMEMBERED_MAX = 10_000;

const LETTERS_AND_APOSTROPHES = /[\p{L}\p{N}'’]+/gu;
const WORDS = /[\p{L}\p{N}]+(?:['’][\p{L}]+)*/gu;

/** Without those that stand in what is too long for words. */
function wordsOf(text: string): readonly string[] {
  const runs = runsOf(text, LETTERS_AND_APOSTROPHES);
  return runs.flatMap((run) => (run.length > RUN_CHARS_MAX ? [] : (run.match(WORDS) ?? [])));
}

/** English words, and what misspelt ones most likely are. */
export class Spelling {
  readonly #dictionary = nspell(Buffer.from(dictionary.aff), Buffer.from(dictionary.dic));
  /** By word; null where there is nothing to correct. The oldest one goes first. */
  readonly #remembered = new Map<string, string | null>();

  /** Each misspelt word once, in the order of the texts. */
  changes(texts: readonly string[]): readonly Change[] {
    const words = new Set(texts.flatMap((text) => wordsOf(text.toLowerCase())));
    const changes: Change[] = [];
    let lookups = 0;
    for (const original of words) {
      let correction = this.#remembered.get(original);
      if (correction === undefined) {
        if (!this.#isMisspelt(original)) continue;
        if (++lookups > LOOKUPS_MAX) break;
        correction = this.#lookUp(original);
      }
      if (correction !== null) changes.push({ original, correction });
    }
    return changes;
  }

  #isMisspelt(word: string): boolean {
    if (word.length < 3 || word.length > WORD_CHARS_MAX || /\p{N}/u.test(word)) return false;
    const name = word.slice(0, 1).toUpperCase() + word.slice(1);
    return ![word, name, word.toUpperCase()].some((written) => this.#dictionary.correct(written));
  }

  #lookUp(word: string): string | null {
    const suggestions = this.#dictionary.suggest(word).map((suggestion) => suggestion.toLowerCase());
    const correction = suggestions.includes(word) ? null : (mostLikely(word, suggestions) ?? null);
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size >= REMEMBERED_MAX && oldest !== undefined) this.#remembered.delete(oldest);
    this.#remembered.set(word, correction);
    return correction;
  }
}
