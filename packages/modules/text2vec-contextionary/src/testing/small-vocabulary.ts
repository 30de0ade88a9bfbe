import { seededRandom } from "@shoal/seeded-random";
import { vocabularyIn } from "../vocabulary/vocabulary-file.js";
import type { Vocabulary } from "../vocabulary/word-table.js";

/** Words of which tests know that they are there: of several alphabets, most frequent first. */
export const SMALL_WORDS: readonly string[] = [
  ..."the , . car cars vehicle engine road fashion store dress pizza food apple fruit banana king queen president inc".split(
    " ",
  ),
  ..."microsoft computer software über straße 東京 2024 3d money bank river water fish boat sea article i phone a".split(
    " ",
  ),
  ...Array.from({ length: 160 }, (_, i) => `word${String.fromCharCode(97 + (i % 26))}${i}`),
];

const DIMENSIONS = 12;

/** A vocabulary of {@link SMALL_WORDS} with random vectors. */
export function smallVocabulary(seed = 1): Vocabulary {
  const { next } = seededRandom(seed);
  const matrix = Float32Array.from({ length: SMALL_WORDS.length * DIMENSIONS }, () => next() * 2 - 1);
  return vocabularyIn(SMALL_WORDS, matrix);
}
