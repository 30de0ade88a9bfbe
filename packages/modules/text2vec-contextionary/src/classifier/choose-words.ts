import type { WordOverride } from "../contextionary.js";
import type { ContextualSettings } from "./contextual-settings.js";

export interface RankedWord {
  readonly word: string;
  /** How much nearer it is to one target than to all on average. */
  readonly gain: number;
}

/** What the vector of an item is made of. */
export interface ChosenWords {
  readonly words: readonly string[];
  readonly overrides: readonly WordOverride[];
}

/**
 * The words of a text that tell targets apart and are particular to it, those that do so best boosted (reference-graphql 7.6).
 * `known`: the words of the text that have a vector, in its order; `particular`: its distinct words, the most particular first.
 */
export function chooseWords(
  known: readonly RankedWord[],
  particular: readonly string[],
  settings: ContextualSettings,
): ChosenWords {
  const ranked = rank(known);
  const cutoff = Math.trunc((settings.informationGainCutoffPercentile / 100) * ranked.length);
  const gaining = new Set(ranked.slice(0, cutoff));
  const kept = new Set(particular.slice(0, Math.trunc((settings.tfidfCutoffPercentile / 100) * particular.length)));
  const chosen = known.map(({ word }) => word).filter((word) => gaining.has(word) && kept.has(word));
  const words = chosen.length < settings.minimumUsableWords ? ranked.slice(0, settings.minimumUsableWords) : chosen;
  const overrides = ranked.slice(0, cutoff).map((word, at) => ({
    word,
    expression: `${boost(at, cutoff, settings.informationGainMaximumBoost).toFixed(6)} * w`,
  }));
  return { words, overrides };
}

/** Each once, the largest gain first, equal ones by the word. */
function rank(known: readonly RankedWord[]): readonly string[] {
  const gains = new Map(known.map(({ word, gain }) => [word, gain]));
  const sorted = [...gains].sort(([a, gainA], [b, gainB]) => gainB - gainA || (a < b ? -1 : a > b ? 1 : 0));
  return sorted.map(([word]) => word);
}

function boost(at: number, cutoff: number, most: number): number {
  return at === 0 ? most : Math.min(most, 1 - Math.log(at / cutoff));
}
