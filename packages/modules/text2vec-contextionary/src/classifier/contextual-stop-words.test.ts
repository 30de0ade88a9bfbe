import type { ClassDefinition, ObjectId } from "@shoal/model";
import type { ClassifierTarget } from "@shoal/module-api";
import { expect, test } from "vitest";
import { embeddedContextionary } from "../embedded-contextionary.js";
import { StoredExtensions } from "../stored-extensions.js";
import { MemoryExtensions } from "../testing/memory-extensions.js";
import { SMALL_WORDS, smallVocabulary } from "../testing/small-vocabulary.js";
import { contextualClassifier } from "./contextual-classifier.js";

const context = { deadline: Number.POSITIVE_INFINITY };
const vocabulary = smallVocabulary();

function target(word: string): ClassifierTarget {
  return { id: word as ObjectId, className: "Topic", vector: vocabulary.vector(SMALL_WORDS.indexOf(word)) };
}

/** What a text is made to refer to, and the corpora that its vector was asked of. */
async function classified(texts: readonly string[], text: string, settings: object) {
  const extensions = new StoredExtensions(new MemoryExtensions());
  const contextionary = embeddedContextionary(async () => vocabulary, extensions);
  const corpora: string[] = [];
  const vectorForCorpora = contextionary.vectorForCorpora.bind(contextionary);
  contextionary.vectorForCorpora = (asked, overrides, outer) => {
    corpora.push(...asked);
    return vectorForCorpora(asked, overrides, outer);
  };
  const classifier = contextualClassifier(contextionary);
  const prepared = await classifier.prepare(
    {
      definition: {} as ClassDefinition,
      basedOnProperties: ["text"],
      classifyProperties: ["to"],
      settings: classifier.settings(settings),
      targets: async () => ["the", "car", "a", "pizza"].map(target),
      async *texts() {
        yield* texts;
      },
    },
    context,
  );
  const item = { id: "i" as ObjectId, properties: { text }, vector: undefined };
  const [found] = await prepared.classify(item, context);
  return { to: found?.target.id, corpora };
}

// Targets with the vectors of stop words make these the first in the ranking, were they in it.
const NO_TFIDF = { tfidfCutoffPercentile: 100 };

test("a text of stop words and one other word is classified by that one", async () => {
  for (const minimumUsableWords of [1, 3]) {
    const settings = { ...NO_TFIDF, minimumUsableWords };
    expect(await classified([], "The a of i car", settings)).toEqual({ to: "car", corpora: ["car"] });
  }
});

test("stop words take no places in the ranking", async () => {
  const settings = { ...NO_TFIDF, minimumUsableWords: 1, informationGainCutoffPercentile: 50 };
  const text = "the i a pizza car of";
  const withStopWords = await classified([text], text, settings);
  // Half of the two words that are ranked.
  expect(withStopWords.corpora).toHaveLength(1);
  expect(["pizza", "car"]).toContain(withStopWords.corpora[0]);
  expect(await classified(["pizza car"], "pizza car", settings)).toEqual(withStopWords);
});

test("a text of stop words alone fails its item", async () => {
  await expect(classified([], "the of and", {})).rejects.toThrow("no word of 'text' is known");
});
