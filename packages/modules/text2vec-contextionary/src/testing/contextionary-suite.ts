import { describe, expect, it } from "vitest";
import { type Contextionary, NoVector } from "../contextionary.js";
import { SMALL_WORDS, smallVocabulary } from "./small-vocabulary.js";

const CONTEXT = { deadline: Number.POSITIVE_INFINITY };

/** Every contextionary over the small vocabulary. `open` gives a new one, without extensions. */
export function describeContextionary(name: string, open: () => Promise<Contextionary>): void {
  const vocabulary = smallVocabulary();
  const vectorOf = (word: string): Float32Array => vocabulary.vector(SMALL_WORDS.indexOf(word));

  /** All words by Euclidean distance, in float64. */
  function byDistance(vector: Float32Array, below = SMALL_WORDS.length) {
    const all = SMALL_WORDS.slice(0, below).map((word) => {
      const other = vectorOf(word);
      return { word, distance: Math.sqrt(other.reduce((sum, one, at) => sum + (one - (vector[at] ?? 0)) ** 2, 0)) };
    });
    return all.sort((a, b) => a.distance - b.distance);
  }

  describe(name, () => {
    it("knows its words, and stop words", async () => {
      await using contextionary = await open();
      expect((await contextionary.meta(CONTEXT)).version).toMatch(/-v1\.\d+\.\d+$/);
      expect(await contextionary.dimensions(CONTEXT)).toBe(vocabulary.dimensions);
      for (const word of ["car", "über", "東京", "2024"]) {
        expect(await contextionary.isWordPresent(word, CONTEXT)).toBe(true);
        expect(await contextionary.vectorForWord(word, CONTEXT)).toEqual(vectorOf(word));
      }
      expect(await contextionary.isWordPresent("qwertz", CONTEXT)).toBe(false);
      expect(await contextionary.vectorForWord("qwertz", CONTEXT)).toBeUndefined();
      expect(await contextionary.isStopword("the", CONTEXT)).toBe(true);
      expect(await contextionary.isStopword("car", CONTEXT)).toBe(false);
      expect(await contextionary.vectorsForWords(["Car", "qwertz", "sea"], CONTEXT)).toEqual([
        vectorOf("car"),
        undefined,
        vectorOf("sea"),
      ]);
    });

    it("has vectors of stop words, but not where texts are made of them", async () => {
      await using contextionary = await open();
      for (const word of ["the", "i", "a"]) {
        expect(await contextionary.isWordPresent(word, CONTEXT)).toBe(true);
        expect(await contextionary.vectorForWord(word, CONTEXT)).toEqual(vectorOf(word));
      }
      const many = await contextionary.vectorsForWords(["the", "The", "car", "a"], CONTEXT);
      expect(many).toEqual([undefined, undefined, vectorOf("car"), undefined]);
    });

    it("makes vectors of corpora, and tells of what", async () => {
      await using contextionary = await open();
      const one = await contextionary.vectorForCorpora(["Car!"], [], CONTEXT);
      expect(one.vector).toEqual(vectorOf("car"));
      const { source } = await contextionary.vectorForCorpora(["Microsoft Inc."], [], CONTEXT);
      expect(source.map(({ concept }) => concept)).toEqual(["microsoft", "inc"]);
      const overrides = [{ word: "inc", expression: "w * 0" }];
      const { vector } = await contextionary.vectorForCorpora(["Microsoft Inc."], overrides, CONTEXT);
      for (const [at, number] of vector.entries()) expect(number).toBeCloseTo(vectorOf("microsoft")[at] ?? 0, 6);
    });

    it("refuses corpora without a known word, and expressions that are none", async () => {
      await using contextionary = await open();
      for (const corpora of [["the"], ["qwertz yxcv"], ["car", ""]]) {
        const refusal = await contextionary.vectorForCorpora(corpora, [], CONTEXT).catch((thrown: unknown) => thrown);
        expect(refusal).toBeInstanceOf(NoVector);
        expect(refusal).toMatchObject({
          code: "invalid",
          message: expect.stringContaining("all words in corpus were either stopwords or not present"),
        });
      }
      const overrides = [{ word: "car", expression: "w +" }];
      const refusal = await contextionary.vectorForCorpora(["car road"], overrides, CONTEXT).catch((thrown) => thrown);
      expect(refusal).toMatchObject({ code: "invalid" });
      expect(refusal).not.toBeInstanceOf(NoVector);
    });

    it("finds the words that brute force finds", async () => {
      await using contextionary = await open();
      const usual = Math.ceil(SMALL_WORDS.length * 0.95);
      const vectors = ["car", "food", "word" + "z181"].map((word) =>
        vectorOf(SMALL_WORDS.includes(word) ? word : "sea"),
      );
      for (const vector of vectors) {
        const nearest = await contextionary.nearestWords(vector, 12, CONTEXT);
        expect(nearest.map(({ word }) => word)).toEqual(
          byDistance(vector)
            .slice(0, 12)
            .map(({ word }) => word),
        );
        expect(nearest[0]?.distance).toBe(0);
      }
      const many = await contextionary.nearestUsualWords(vectors, 10, CONTEXT);
      expect(many).toHaveLength(vectors.length);
      for (const [i, nearest] of many.entries()) {
        const expected = byDistance(vectors[i] ?? new Float32Array(0), usual).slice(0, 10);
        expect(nearest.map(({ word }) => word)).toEqual(expected.map(({ word }) => word));
        for (const [at, { distance }] of nearest.entries())
          expect(distance).toBeCloseTo(expected[at]?.distance ?? 0, 5);
      }
      await expect(contextionary.nearestWords(new Float32Array(3), 1, CONTEXT)).rejects.toMatchObject({
        code: "invalid",
      });
    });

    it("learns words, also of several words, and refuses what breaks the rules", async () => {
      await using contextionary = await open();
      await contextionary.addExtension("flux capacitor", "engine of a car", 1, CONTEXT);
      await contextionary.addExtension("the", "king", 1, CONTEXT);
      const { source, vector } = await contextionary.vectorForCorpora(["Flux capacitor"], [], CONTEXT);
      expect(source).toEqual([{ concept: "flux_capacitor", weight: 1, occurrence: 1000 }]);
      expect(vector).toEqual((await contextionary.vectorForCorpora(["engine of a car"], [], CONTEXT)).vector);
      expect(await contextionary.vectorForWord("the", CONTEXT)).toEqual(vectorOf("king"));
      expect(await contextionary.vectorsForWords(["the"], CONTEXT)).toEqual([vectorOf("king")]);
      for (const [concept, definition, weight] of [
        ["a", "car", 1],
        ["Upper", "car", 1],
        ["x-ray", "car", 1],
        ["two  spaces", "car", 1],
        [" before", "car", 1],
        ["behind ", "car", 1],
        ["   ", "car", 1],
        ["with_underscore", "car", 1],
        ["word", "", 1],
        ["word", "qwertz", 1],
        ["word", "car", 0.5],
        ["word", "car", 2],
      ] as const) {
        await expect(contextionary.addExtension(concept, definition, weight, CONTEXT)).rejects.toMatchObject({
          code: "invalid",
        });
      }
    });
  });
}
