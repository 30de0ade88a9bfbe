import { ShoalError } from "@shoal/model";
import type { Work } from "@shoal/runtime";
import { type CorpusVector, NO_VECTOR, NoVector, type SourceWord, type WordOverride } from "../contextionary.js";
import { type KnownWord, type KnownWords, STEP_WORDS } from "./known-words.js";
import { overriddenWeight } from "./weight-expression.js";

/** The words that are told of a vector; those of longer texts would make objects larger than their texts do. */
export const SOURCE_WORDS_MAX = 10_000;

/**
 * The mean of the vectors of corpora (reference-graphql 8.3). Of one corpus it is the vector of its only word, or the mean of
 * its words, weighted by how rare they are in it. Fails with {@link NoVector} when a corpus has no known word.
 */
export function* corporaVector(
  words: KnownWords,
  corpora: readonly string[],
  overrides: readonly WordOverride[],
): Work<CorpusVector> {
  const expressions = new Map(overrides.map(({ word, expression }) => [word.toLowerCase(), expression]));
  const source: SourceWord[] = [];
  const means: Float64Array[] = [];
  for (const corpus of corpora) {
    const known = yield* words.inText(corpus);
    if (known.length === 0) {
      throw new NoVector(`all words in corpus were either stopwords or not present in the contextionary, ${NO_VECTOR}`);
    }
    const weights = yield* weightsOf(known, expressions);
    for (const [i, { concept, occurrence }] of known.slice(0, SOURCE_WORDS_MAX - source.length).entries()) {
      source.push({ concept, weight: Math.fround(weights[i] ?? 0), occurrence });
      if (source.length % STEP_WORDS === 0) yield;
    }
    means.push(yield* weightedMean(known, weights, words.dimensions));
  }
  const [first, ...others] = means;
  if (first === undefined) throw new ShoalError("invalid", "there is no corpus to build a vector of");
  if (others.length === 0) return { vector: new Float32Array(first), source };
  const sums = first.map((number, at) => others.reduce((sum, mean) => sum + (mean[at] as number), number));
  return { vector: new Float32Array(sums.map((sum) => sum / means.length)), source };
}

/** `2·(1.05 − ln(occurrence) / ln(largest occurrence in this corpus))`, unless an expression says otherwise. */
function* weightsOf(words: readonly KnownWord[], expressions: ReadonlyMap<string, string>): Work<readonly number[]> {
  const largest = Math.log(words.reduce((most, { occurrence }) => Math.max(most, occurrence), 1));
  const weights: number[] = [];
  /** Of the words with an expression, which may stand in a text many times. */
  const overridden = new Map<string, number>();
  for (const { concept, occurrence } of words) {
    let weight = words.length === 1 ? 1 : 2 * (1.05 - (largest === 0 ? 1 : Math.log(occurrence) / largest));
    const expression = expressions.get(concept);
    if (expression !== undefined) {
      weight = overridden.get(concept) ?? overriddenWeight(concept, expression, weight);
      overridden.set(concept, weight);
    }
    weights.push(weight);
    if (weights.length % STEP_WORDS === 0) yield;
  }
  return weights;
}

/** Fails with {@link NoVector} when the weights add up to nothing. */
function* weightedMean(
  words: readonly KnownWord[],
  weights: readonly number[],
  dimensions: number,
): Work<Float64Array> {
  const mean = new Float64Array(dimensions);
  let total = 0;
  for (const [i, word] of words.entries()) {
    // Of a single word the weight makes no difference.
    const weight = words.length === 1 ? 1 : (weights[i] ?? 0);
    total += weight;
    addWeighted(mean, word, weight);
    if (i % STEP_WORDS === STEP_WORDS - 1) yield;
  }
  if (total === 0) throw new NoVector(`the weights of all words add up to 0, ${NO_VECTOR}`);
  for (let at = 0; at < dimensions; at++) mean[at] = (mean[at] as number) / total;
  return mean;
}

function addWeighted(sums: Float64Array, { numbers, start }: KnownWord, weight: number): void {
  for (let at = 0; at < sums.length; at++) sums[at] = (sums[at] as number) + weight * (numbers[start + at] as number);
}
