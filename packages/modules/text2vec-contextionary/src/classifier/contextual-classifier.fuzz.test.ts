import type { ClassDefinition, ObjectId } from "@shoal/model";
import type { ClassifierRun, ClassifierTarget } from "@shoal/module-api";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import type { Contextionary, WordOverride } from "../contextionary.js";
import { contextualClassifier } from "./contextual-classifier.js";
import { ContextualTargets } from "./contextual-targets.js";

const SEED = Number(process.env.SHOAL_TEST_SEED ?? 20261120);
const context = { deadline: Number.POSITIVE_INFINITY };
const DIMENSIONS = 6;

/** Vectors of words, and what was asked of them; the vector of a corpus is that of its words, boosts as they are. */
class FewWords {
  readonly asked: { readonly corpus: string; readonly overrides: readonly WordOverride[] }[] = [];
  constructor(readonly vectors: ReadonlyMap<string, readonly number[]>) {}

  vectorsForWords(words: readonly string[]) {
    return Promise.resolve(
      words.map((word) => {
        const vector = this.vectors.get(word);
        return vector && Float32Array.from(vector);
      }),
    );
  }

  vectorForCorpora([corpus = ""]: readonly string[], overrides: readonly WordOverride[]) {
    this.asked.push({ corpus, overrides });
    return Promise.resolve({ vector: Float32Array.from(this.corpus(corpus, overrides)), source: [] });
  }

  corpus(corpus: string, overrides: readonly WordOverride[]): number[] {
    const sums = new Array<number>(DIMENSIONS).fill(0);
    for (const word of corpus.split(" ")) {
      const boost = Number(overrides.find((one) => one.word === word)?.expression.split(" ")[0] ?? 1);
      for (const [at, value] of (this.vectors.get(word) ?? []).entries()) sums[at] = (sums[at] ?? 0) + boost * value;
    }
    return sums;
  }
}

function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [dot, ofA, ofB] = [0, 0, 0];
  for (let at = 0; at < a.length; at++) {
    const [x, y] = [a[at] ?? 0, b[at] ?? 0];
    dot += x * y;
    ofA += x * x;
    ofB += y * y;
  }
  return 1 - dot / Math.sqrt(ofA * ofB);
}

/** The formulas of reference-graphql 7.6, one after the other. */
function byTheBook(
  words: FewWords,
  text: string,
  texts: readonly string[],
  targets: readonly ClassifierTarget[],
  settings: Readonly<Record<string, number>>,
) {
  const cut = (one: string): readonly string[] => one.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const document = cut(text);
  const gainOf = (word: string): number => {
    const all = targets.map(({ vector }) => distance(words.vectors.get(word) ?? [], vector));
    return all.reduce((sum, one) => sum + one, 0) / all.length - Math.min(...all);
  };
  const known = document.filter((word) => words.vectors.has(word));
  const ranking = [...new Set(known)].sort((a, b) => gainOf(b) - gainOf(a) || (a < b ? -1 : 1));
  const particular = [...new Set(document)].map((word) => {
    const tf = document.filter((one) => one === word).length / document.length;
    const idf = Math.log10(texts.length / texts.filter((one) => cut(one).includes(word)).length);
    return { word, weight: tf * idf };
  });
  particular.sort((a, b) => b.weight - a.weight);
  const { igCutoff = 0, tfidfCutoff = 0, minimum = 0, maximum = 0 } = settings;
  const cutoff = Math.floor((igCutoff / 100) * ranking.length);
  const terms = particular.slice(0, Math.floor((tfidfCutoff / 100) * particular.length)).map(({ word }) => word);
  let kept = known.filter((word) => ranking.indexOf(word) < cutoff && terms.includes(word));
  if (kept.length < minimum) kept = ranking.slice(0, minimum);
  const overrides = ranking.slice(0, cutoff).map((word, i) => {
    const boost = i === 0 ? maximum : Math.min(maximum, 1 - Math.log(i / cutoff));
    return { word, expression: `${boost.toFixed(6)} * w` };
  });
  const vector = words.corpus(kept.join(" "), overrides);
  const distances = targets.map((target) => distance(vector, target.vector));
  const least = Math.min(...distances);
  return { corpus: kept.join(" "), overrides, target: targets[distances.indexOf(least)]?.id, distance: least };
}

describe("text2vec-contextionary-contextual", () => {
  test(`says what the formulas say (seed ${SEED})`, async () => {
    const { next, below } = seededRandom(SEED);
    const vectorOf = () => Array.from({ length: DIMENSIONS }, () => Math.fround(next() - 0.5));
    for (let round = 0; round < 40; round++) {
      const vocabulary = Array.from({ length: 30 }, (_, at) => `w${at}`);
      // Some words are not known.
      const words = new FewWords(new Map(vocabulary.filter(() => next() < 0.8).map((word) => [word, vectorOf()])));
      const targets = Array.from({ length: 1 + below(6) }, (_, at): ClassifierTarget => {
        return { id: `t${at}` as ObjectId, className: "T", vector: Float32Array.from(vectorOf()) };
      });
      const texts = Array.from({ length: 12 }, () =>
        Array.from({ length: 1 + below(25) }, () => vocabulary[below(30)]?.replace("w", next() < 0.3 ? "W" : "w")).join(
          next() < 0.5 ? " " : ", ",
        ),
      );
      const settings = { igCutoff: below(101), tfidfCutoff: below(101), minimum: 1 + below(5), maximum: 1 + below(5) };
      const classifier = contextualClassifier(words as unknown as Contextionary);
      const run: ClassifierRun = {
        definition: {} as ClassDefinition,
        basedOnProperties: ["text"],
        classifyProperties: ["to"],
        settings: classifier.settings({
          informationGainCutoffPercentile: settings.igCutoff,
          tfidfCutoffPercentile: settings.tfidfCutoff,
          minimumUsableWords: settings.minimum,
          informationGainMaximumBoost: settings.maximum,
        }),
        targets: async () => targets,
        async *texts() {
          yield* texts;
        },
      };
      const prepared = await classifier.prepare(run, context);
      for (const text of texts) {
        const item = { id: "i" as ObjectId, properties: { text }, vector: undefined };
        if (
          !text
            .toLowerCase()
            .split(/[ ,]+/)
            .some((word) => words.vectors.has(word))
        ) {
          await expect(prepared.classify(item, context)).rejects.toThrow("no word of 'text' is known");
          continue;
        }
        const wanted = byTheBook(words, text, texts, targets, settings);
        const [found] = await prepared.classify(item, context);
        expect(words.asked.at(-1)).toEqual({ corpus: wanted.corpus, overrides: wanted.overrides });
        expect(found?.target.id).toBe(wanted.target);
        expect(found?.meta.meanWinningDistance).toBeCloseTo(wanted.distance / 2, 5);
      }
    }
  });

  test("targets and words without a direction, and of another length", async () => {
    const vectors = [
      [0, 0],
      [1, 0],
      [3, 4],
    ];
    const all = vectors.map((vector, at): ClassifierTarget => {
      return { id: `t${at}` as ObjectId, className: "T", vector: Float32Array.from(vector) };
    });
    const targets = await ContextualTargets.of("to", all);
    expect(await targets.nearest(Float32Array.of(0, 2))).toMatchObject({
      target: all[2],
      distance: expect.closeTo(0.2),
    });
    expect(await targets.nearest(Float32Array.of(-1, -1))).toMatchObject({ target: all[0], distance: 1 });
    const [gain] = await targets.gains([Float32Array.of(0, 2)]);
    expect(gain).toBeCloseTo((1 + 1 + 0.2) / 3 - 0.2);
    await expect(targets.nearest(Float32Array.of(1))).rejects.toThrow(
      "the vectors of words have 2 dimensions, a target has one of 1",
    );
    const mixed = [...all, { ...all[0], vector: Float32Array.of(1) } as ClassifierTarget];
    await expect(ContextualTargets.of("to", mixed)).rejects.toThrow(
      "the vectors of words have 2 dimensions, a target has one of 1",
    );
  });

  test("an item without a text, and a property without targets", async () => {
    const words = new FewWords(new Map([["car", [1, 0, 0, 0, 0, 0]]]));
    const classifier = contextualClassifier(words as unknown as Contextionary);
    const definition = { properties: [{ name: "to", dataType: ["Place"] }] } as unknown as ClassDefinition;
    const target = { id: "t" as ObjectId, className: "Place", vector: Float32Array.of(1, 0, 0, 0, 0, 0) };
    const run = (targets: readonly ClassifierTarget[]): ClassifierRun => ({
      ...{
        definition,
        basedOnProperties: ["text"],
        classifyProperties: ["to"],
        settings: classifier.settings(undefined),
      },
      targets: async () => targets,
      async *texts() {},
    });
    await expect(classifier.prepare(run([]), context)).rejects.toThrow(
      "target prop 'to': find targets: no potential targets found of class 'Place'",
    );
    const prepared = await classifier.prepare(run([target]), context);
    const item = { id: "i" as ObjectId, properties: {}, vector: undefined };
    await expect(prepared.classify(item, context)).rejects.toThrow("the object has no value of the property 'text'");
    const long = { ...item, properties: { text: "a".repeat(500_001) } };
    const refused = "the property 'text' has 500001 characters, at most 500000 are read";
    await expect(prepared.classify(long, context)).rejects.toThrow(refused);
  });

  test("settings are whole numbers with defaults", () => {
    const { settings } = contextualClassifier(new FewWords(new Map()) as unknown as Contextionary);
    expect(settings(undefined)).toEqual({
      minimumUsableWords: 3,
      informationGainCutoffPercentile: 50,
      informationGainMaximumBoost: 3,
      tfidfCutoffPercentile: 80,
    });
    const parse = "the settings of text2vec-contextionary-contextual: ";
    expect(() => settings({ minimumUsableWords: "4" })).toThrow(
      `${parse}settings.minimumUsableWords must be a number, got the string "4"`,
    );
    expect(() => settings({ minimumUsableWords: 0 })).toThrow("from 1 to 1000, got 0");
    expect(() => settings({ informationGainMaximumBoost: 0 })).toThrow("from 1 to 1000, got 0");
    expect(settings({ tfidfCutoffPercentile: 0 }).tfidfCutoffPercentile).toBe(0);
    expect(() => settings({ tfidfCutoffPercentile: 101 })).toThrow("from 0 to 100, got 101");
    expect(() => settings([])).toThrow(`${parse}settings must be an object, got a list`);
  });
});
