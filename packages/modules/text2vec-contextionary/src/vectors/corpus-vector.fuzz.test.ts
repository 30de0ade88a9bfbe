import type { Work } from "@shoal/runtime";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { SMALL_WORDS, smallVocabulary } from "../testing/small-vocabulary.js";
import { corporaVector } from "./corpus-vector.js";
import type { Extension } from "./extension.js";
import { KnownWords } from "./known-words.js";
import { STOP_WORDS } from "./stop-words.js";
import { overriddenWeight } from "./weight-expression.js";

const SEED = Number(process.env.SHOAL_FUZZ_SEED ?? 20_261_120);

const vocabulary = smallVocabulary();
const taught: Extension = {
  concept: "taught_word",
  vector: vocabulary.vector(5),
  occurrence: 1000,
  definition: "",
  weight: 1,
};
const words = new KnownWords(vocabulary, () => new Map([[taught.concept, taught]]));

/** The formula as reference-graphql 8.3 has it, word by word, without anything shared with what is tested. */
function expectedVector(corpora: readonly string[]): number[] | undefined {
  const means: number[][] = [];
  for (const corpus of corpora) {
    const known: { vector: readonly number[]; occurrence: number }[] = [];
    const parts = corpus
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter((part) => part !== "");
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i] ?? "";
      const rank = SMALL_WORDS.indexOf(part);
      if (part === "taught" && parts[i + 1] === "word") {
        known.push({ vector: [...taught.vector], occurrence: 1000 });
        i++;
      } else if (rank >= 0 && !STOP_WORDS.has(part)) {
        known.push({ vector: [...vocabulary.vector(rank)], occurrence: Math.round(10_000_000 / (rank + 1)) });
      }
    }
    if (known.length === 0) return undefined;
    const maxOcc = Math.max(...known.map(({ occurrence }) => occurrence));
    const weights = known.map(({ occurrence }) =>
      known.length === 1 ? 1 : 2 * (1.05 - Math.log(occurrence) / Math.log(maxOcc)),
    );
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    means.push(
      Array.from({ length: vocabulary.dimensions }, (_, at) =>
        known.reduce((sum, { vector }, i) => sum + ((vector[at] ?? 0) * (weights[i] ?? 0)) / total, 0),
      ),
    );
  }
  return Array.from(
    { length: vocabulary.dimensions },
    (_, at) => means.reduce((sum, mean) => sum + (mean[at] ?? 0), 0) / means.length,
  );
}

/** Does all of it, and says in how many parts. */
function done<T>(work: Work<T>): { readonly value: T; readonly parts: number } {
  for (let parts = 1; ; parts++) {
    const part = work.next();
    if (part.done) return { value: part.value, parts };
  }
}

it(`makes the vector that the formula gives (seed ${SEED})`, () => {
  const { below, pick } = seededRandom(SEED);
  const pieces = [
    ...SMALL_WORDS.slice(0, 60),
    "qwertz",
    "yxcv",
    "taught",
    "word",
    "taught word",
    "Taught-Word",
    "Microsoft",
  ];
  const separators = [" ", ", ", "-", "\n", "_"];
  let made = 0;
  for (let round = 0; round < 3_000; round++) {
    const corpora = Array.from({ length: 1 + below(3) }, () =>
      Array.from({ length: below(9) }, () => pick(pieces)).join(pick(separators)),
    );
    const expected = expectedVector(corpora);
    if (expected === undefined) {
      expect(() => done(corporaVector(words, corpora, [])), JSON.stringify(corpora)).toThrow("cannot build vector");
      continue;
    }
    made++;
    const { vector } = done(corporaVector(words, corpora, [])).value;
    for (const [at, number] of vector.entries())
      expect(number, JSON.stringify(corpora)).toBeCloseTo(expected[at] ?? 0, 5);
  }
  expect(made).toBeGreaterThan(1_000);
});

it("takes a long text in parts, and makes the same of it", () => {
  const some = SMALL_WORDS.slice(20, 60).join(" ");
  const corpus = `${some} taught word `.repeat(200);
  const { value, parts } = done(corporaVector(words, [corpus, some], []));
  const expected = expectedVector([corpus, some]) ?? [];
  for (const [at, number] of value.vector.entries()) expect(number).toBeCloseTo(expected[at] ?? 0, 5);
  expect(parts).toBeGreaterThan(12);
  expect(value.source.filter(({ concept }) => concept === "taught_word")).toHaveLength(200);
  const longest = done(corporaVector(words, [`${SMALL_WORDS[30]} `.repeat(12_000), "taught word"], [])).value;
  expect(longest.source).toHaveLength(10_000);
});

it("knows nothing of what was taught with a vector of another length", () => {
  const longer = { ...taught, vector: new Float32Array(vocabulary.dimensions + 1).fill(1) };
  const known = new KnownWords(vocabulary, () => new Map([[longer.concept, longer]]));
  expect(done(known.inText("taught word")).value).toEqual([]);
  expect(known.vectorOf(longer.concept)).toBeUndefined();
});

describe("overriddenWeight", () => {
  it("is what JavaScript makes of the same expression", () => {
    const { below, pick } = seededRandom(SEED);
    const expression = (depth: number): string => {
      const kind = depth > 3 ? 0 : below(4);
      if (kind === 0) return pick(["w", "1", "2.5", "0.25", "10", "3e2"]);
      if (kind === 1) return `(${expression(depth + 1)})`;
      if (kind === 2) return `-${expression(depth + 1)}`.replace("--", "- -");
      return `${expression(depth + 1)} ${pick(["+", "-", "*", "/"])} ${expression(depth + 1)}`;
    };
    for (let round = 0; round < 2_000; round++) {
      const text = expression(0);
      const expected = new Function("w", `return ${text}`)(0.7) as number;
      if (Number.isFinite(expected)) expect(overriddenWeight("x", text, 0.7), text).toBeCloseTo(expected, 9);
      else expect(() => overriddenWeight("x", text, 0.7), text).toThrow("'x'");
    }
  });

  it.each([
    ["1e300", "the weight of 'car' would be 1e+300, at most 1e+30 is allowed"],
    ["-1e31", "would be -1e+31"],
    [`w${" ".repeat(1_000)}`, "the weight of 'car': its expression has 1001 characters, at most 1000 are allowed"],
  ])("refuses what is out of bounds: %j", (expression, reason) => {
    expect(() => overriddenWeight("car", expression, 1)).toThrow(reason);
  });

  it.each(["", "w w", "w +", "(w", "w)", "1/0", "x", "w ** 2", ".", "process", "(".repeat(1_000), "9e999"])(
    "refuses %j",
    (expression) => {
      expect(() => overriddenWeight("car", expression, 1)).toThrow("the weight of 'car' cannot be made of");
    },
  );
});
