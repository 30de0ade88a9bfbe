import { ShoalError, type ShoalErrorOptions } from "@shoal/model";
import type { BackEnd } from "@shoal/module-api";
import type { RequestContext } from "@shoal/runtime";

export const MODULE_NAME = "text2vec-contextionary";

/** A word that a vector was made of. */
export interface SourceWord {
  readonly concept: string;
  /** In float32. */
  readonly weight: number;
  readonly occurrence: number;
}

export interface CorpusVector {
  readonly vector: Float32Array;
  readonly source: readonly SourceWord[];
}

/** There is no vector of a text: none of its words is known, or their weights come to nothing. */
export class NoVector extends ShoalError {
  constructor(message: string, options?: ShoalErrorOptions) {
    super("invalid", message, options);
  }
}

/** What the messages of these errors end in; published containers give them no status of their own. */
export const NO_VECTOR = "cannot build vector";

/** A word near to a vector. */
export interface NearWord {
  readonly word: string;
  /** Euclidean, between vectors as they are. */
  readonly distance: number;
}

export interface WordOverride {
  readonly word: string;
  /** Numbers, `w` (the weight that the word would have), `+ - * /` and parentheses. */
  readonly expression: string;
}

/**
 * Vectors of words and what can be made of them (reference-graphql 8.3): in this process, or asked for at another one. All
 * fail with `unavailable` when it does not answer.
 */
export interface Contextionary extends BackEnd {
  meta(context: RequestContext): Promise<{ readonly version: string; readonly wordCount: number }>;
  /** How many numbers its vectors have; undefined when it cannot tell. */
  dimensions(context: RequestContext): Promise<number | undefined>;
  isStopword(word: string, context: RequestContext): Promise<boolean>;
  isWordPresent(word: string, context: RequestContext): Promise<boolean>;
  /** Undefined for an unknown word. Stop words have vectors, too. */
  vectorForWord(word: string, context: RequestContext): Promise<Float32Array | undefined>;
  /** One a word, as texts are made of them: undefined for unknown ones, and for stop words that nobody taught. */
  vectorsForWords(words: readonly string[], context: RequestContext): Promise<readonly (Float32Array | undefined)[]>;
  /** The mean of the vectors of the corpora. Fails with {@link NoVector} when one of them has no known word. */
  vectorForCorpora(
    corpora: readonly string[],
    overrides: readonly WordOverride[],
    context: RequestContext,
  ): Promise<CorpusVector>;
  /** The `count` words nearest to a vector, of all words. Fails for a vector of another length; so does the next. */
  nearestWords(vector: Float32Array, count: number, context: RequestContext): Promise<readonly NearWord[]>;
  /** For each vector the `count` nearest of the words that are not among the rarest. */
  nearestUsualWords(
    vectors: readonly Float32Array[],
    count: number,
    context: RequestContext,
  ): Promise<readonly (readonly NearWord[])[]>;
  /** Teaches a word, for all processes. Fails with `invalid` against the rules for it. */
  addExtension(concept: string, definition: string, weight: number, context: RequestContext): Promise<void>;
}
