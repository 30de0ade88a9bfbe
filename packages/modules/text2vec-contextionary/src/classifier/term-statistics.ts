import { wordsOf } from "../vectors/known-words.js";

/** In how many of all texts each word occurs. */
export class TermStatistics {
  #texts = 0;
  readonly #textsWith = new Map<string, number>();

  add(text: string): void {
    this.#texts++;
    for (const word of new Set(wordsOf(text))) this.#textsWith.set(word, 1 + (this.#textsWith.get(word) ?? 0));
  }

  /** The distinct words of a text, those that are most particular to it first; equal ones as they come in it. */
  byParticularity(words: readonly string[]): readonly string[] {
    const counts = new Map<string, number>();
    for (const word of words) counts.set(word, 1 + (counts.get(word) ?? 0));
    const weighted = [...counts].map(([word, count]) => ({
      word,
      weight: (count / words.length) * this.#rarity(word),
    }));
    return weighted.sort((a, b) => b.weight - a.weight).map(({ word }) => word);
  }

  /** A word of a text that came later counts as one that occurs once. */
  #rarity(word: string): number {
    return Math.log10(this.#texts / (this.#textsWith.get(word) ?? 1));
  }
}
