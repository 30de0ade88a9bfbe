import { ShoalError } from "@shoal/model";
import type { NearestRows } from "@shoal/native";
import { runWork } from "@shoal/runtime";
import type { Contextionary, NearWord } from "./contextionary.js";
import type { StoredExtensions } from "./stored-extensions.js";
import { corporaVector } from "./vectors/corpus-vector.js";
import { checkExtension, conceptKey, EXTENSION_OCCURRENCE } from "./vectors/extension.js";
import { KnownWords } from "./vectors/known-words.js";
import { STOP_WORDS } from "./vectors/stop-words.js";
import { GLOVE_WORDS } from "./vocabulary/glove-source.js";
import type { Vocabulary } from "./vocabulary/word-table.js";

/** Of the word vectors: the language, their release, and the release of what is made of them. */
const VERSION = "en1.1.0-v1.2.1";

/** Vectors whose neighbours are looked for in one walk through the vocabulary. */
const VECTORS_AT_ONCE = 16;

/** The share of the vocabulary that is too rare to be a usual word: the rarest 5 % (reference-graphql 8.3). */
const RARE_SHARE = 0.05;

interface Loaded {
  readonly vocabulary: Vocabulary;
  readonly words: KnownWords;
}

/** A contextionary in this process, on the word vectors that come with it; they are loaded when first used. */
export function embeddedContextionary(load: () => Promise<Vocabulary>, extensions: StoredExtensions) {
  let loaded: Promise<Loaded> | undefined;
  const wordsLoaded = (): Promise<Loaded> => {
    loaded ??= load().then(
      (vocabulary) => ({ vocabulary, words: new KnownWords(vocabulary, () => extensions.all) }),
      (failure) => {
        // The next one tries again.
        loaded = undefined;
        throw failure;
      },
    );
    return loaded;
  };
  return {
    meta: async () => ({ version: VERSION, wordCount: GLOVE_WORDS }),
    dimensions: async () => (await wordsLoaded()).vocabulary.dimensions,
    isStopword: async (word) => STOP_WORDS.has(word),
    isWordPresent: async (word) => (await wordsLoaded()).words.find(word) !== undefined,
    vectorForWord: async (word) => (await wordsLoaded()).words.vectorOf(word),
    async vectorsForWords(texts) {
      const { words } = await wordsLoaded();
      return texts.map((word) => words.vectorInText(word.toLowerCase()));
    },
    async vectorForCorpora(corpora, overrides, context) {
      return runWork(corporaVector((await wordsLoaded()).words, corpora, overrides), context);
    },
    async nearestWords(vector, count) {
      const { vocabulary } = await wordsLoaded();
      checkLength(vector, vocabulary);
      const { nearestRows } = await import("@shoal/native");
      const [nearest] = await nearestRows(vocabulary.matrix, vocabulary.dimensions, vector, count);
      return nearest === undefined ? [] : wordsOf(vocabulary, nearest, vocabulary.size, count);
    },
    async nearestUsualWords(vectors, count, context) {
      const { vocabulary } = await wordsLoaded();
      const { dimensions, matrix, size } = vocabulary;
      const { nearestRows } = await import("@shoal/native");
      for (const vector of vectors) checkLength(vector, vocabulary);
      // What is among the rarest is left out of the walk: the vocabulary is sorted.
      const usual = Math.max(1, Math.ceil(size * (1 - RARE_SHARE)));
      const found: (readonly NearWord[])[] = [];
      for (let at = 0; at < vectors.length; at += VECTORS_AT_ONCE) {
        context.signal?.throwIfAborted();
        const some = vectors.slice(at, at + VECTORS_AT_ONCE);
        const queries = new Float32Array(some.length * dimensions);
        for (const [i, vector] of some.entries()) queries.set(vector, i * dimensions);
        const responses = await nearestRows(matrix.subarray(0, usual * dimensions), dimensions, queries, count);
        for (const nearest of responses) found.push(wordsOf(vocabulary, nearest, usual, count));
      }
      return found;
    },
    async addExtension(concept, definition, weight, context) {
      checkExtension(concept, definition, weight);
      const { vector } = await this.vectorForCorpora([definition.toLowerCase()], [], context);
      const key = conceptKey(concept);
      const extension = { concept: key, vector, occurrence: EXTENSION_OCCURRENCE, definition, weight };
      await extensions.put(extension, context);
    },
    async [Symbol.asyncDispose]() {
      loaded = undefined;
    },
  } satisfies Contextionary;
}

function checkLength({ length }: Float32Array, { dimensions }: Vocabulary): void {
  if (length === dimensions) return;
  throw new ShoalError("invalid", `the vectors of words have ${dimensions} dimensions, got one of ${length}`);
}

function wordsOf(vocabulary: Vocabulary, { rows, distances }: NearestRows, below: number, count: number): NearWord[] {
  const words: NearWord[] = [];
  for (const [i, row] of rows.entries()) {
    if (row < below) words.push({ word: vocabulary.words.word(row), distance: distances[i] ?? 0 });
  }
  return words.slice(0, count);
}
