import type { Change } from "./speller.js";

export interface CorrectedText {
  /** In lower case when anything was changed, else as it was. */
  readonly text: string;
  /** Those that the text needed. */
  readonly applied: readonly Change[];
}

/** A text with all changes at once, each for whole words only (reference-graphql 8.6). */
export function correctText(text: string, changes: readonly Change[]): CorrectedText {
  const byWord = new Map(changes.map((change) => [change.original.toLowerCase(), change]));
  if (byWord.size === 0) return { text, applied: [] };
  const longestFirst = [...byWord.keys()].sort((a, b) => b.length - a.length).map(escaped);
  const words = new RegExp(`(?<![\\p{L}\\p{N}])(?:${longestFirst.join("|")})(?![\\p{L}\\p{N}])`, "gu");
  const applied = new Set<Change>();
  const corrected = text.toLowerCase().replace(words, (word) => {
    const change = byWord.get(word);
    if (change === undefined) return word;
    applied.add(change);
    return change.correction;
  });
  return applied.size === 0 ? { text, applied: [] } : { text: corrected, applied: [...applied] };
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
