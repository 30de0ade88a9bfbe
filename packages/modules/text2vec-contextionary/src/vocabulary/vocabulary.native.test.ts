import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "@shoal/seeded-random";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SMALL_WORDS, smallVocabulary } from "../testing/small-vocabulary.js";
import { readVocabulary, vocabularyIn, writeVocabulary } from "./vocabulary-file.js";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-vocabulary-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("a vocabulary file", () => {
  it("gives back what was written", async () => {
    const path = join(folder, "deep", "words.vocabulary");
    const { matrix } = smallVocabulary();
    await writeVocabulary(path, SMALL_WORDS, matrix);
    const read = await readVocabulary(path);
    expect(read?.matrix).toEqual(matrix);
    expect(SMALL_WORDS.map((word) => read?.words.find(word))).toEqual(SMALL_WORDS.map((_, i) => i));
    expect(SMALL_WORDS.map((_, i) => read?.words.word(i))).toEqual(SMALL_WORDS);
  });

  it("is not used when it is missing, cut off, longer, changed anywhere, or no such file", async () => {
    const path = join(folder, "damaged.vocabulary");
    expect(await readVocabulary(path)).toBeUndefined();
    await writeVocabulary(path, SMALL_WORDS, smallVocabulary().matrix);
    const whole = await readFile(path);
    const { below } = seededRandom(3);
    for (let round = 0; round < 60; round++) {
      const damaged = Buffer.from(whole);
      // The last bytes of the header mean nothing.
      const at = round < 32 ? round : 64 + below(whole.length - 64);
      damaged[at] = (damaged[at] ?? 0) ^ (1 << below(8));
      await writeFile(path, damaged);
      expect(await readVocabulary(path), `byte ${at}`).toBeUndefined();
    }
    for (const bytes of [
      whole.subarray(0, -1),
      Buffer.concat([whole, Buffer.of(0)]),
      Buffer.alloc(10),
      Buffer.alloc(0),
    ]) {
      await writeFile(path, bytes);
      expect(await readVocabulary(path)).toBeUndefined();
    }
  });
});

it("finds words as a map does, and only those", () => {
  const { below, pick } = seededRandom(20_261_120);
  const letters = [..."abcäß東-,.12"];
  const someWord = () => Array.from({ length: 1 + below(4) }, () => pick(letters)).join("");
  const words = [...new Set(Array.from({ length: 2_000 }, someWord))];
  const numbers = new Map(words.map((word, i) => [word, i]));
  const { words: table } = vocabularyIn(words, new Float32Array(words.length));
  for (let round = 0; round < 5_000; round++) {
    const word = someWord();
    expect(table.find(word), word).toBe(numbers.get(word) ?? -1);
  }
  expect(table.find("")).toBe(-1);
  expect(table.find("x".repeat(10_000))).toBe(-1);
  expect(table.find("\u{1F600}".repeat(64))).toBe(-1);
});
