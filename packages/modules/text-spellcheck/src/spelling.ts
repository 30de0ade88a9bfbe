import dictionary from "dictionary-en";
import nspell from "nspell";
import { mostLikely } from "./most-likely.js";
import type { Change } from "./speller.js";

/** Misspelt words of one request that are looked up; each takes some hundredths of a second. */
const LOOKUPS_MAX = 32;
/** What is longer has no likely correction, but takes the longest to find none. */
const WORD_CHARS_MAX = 24;
const REMEMBERED_MAX = 10_000;

/** English words, and what misspelt ones most likely are. */
export class Spelling {
  readonly #dictionary = nspell(Buffer.from(dictionary.aff), Buffer.from(dictionary.dic));
  /** By word; null where there is nothing to correct. The oldest one goes first. */
  readonly #remembered = new Map<string, string | null>();

  /** Each misspelt word once, in the order of the texts. */
  changes(texts: readonly string[]): readonly Change[] {
    const words = new Set(texts.flatMap((text) => text.toLowerCase().match(/[\p{L}\p{N}]+(?:['’][\p{L}]+)*/gu) ?? []));
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
