import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { vectorTexts } from "./vector-text.js";

it("vectors are written as JSON, of length one, in their own direction", () => {
  const random = seededRandom(5).next;
  const dimensions = 50;
  const vectors = Float32Array.from({ length: 200 * dimensions }, () => (random() - 0.5) * 20);
  vectors.fill(0, 0, dimensions);
  const text = vectorTexts(vectors, dimensions);
  for (let row = 0; row < 200; row++) {
    const read = JSON.parse(text(row)) as number[];
    const original = vectors.subarray(row * dimensions, (row + 1) * dimensions);
    const length = Math.hypot(...original);
    expect(read).toHaveLength(dimensions);
    read.forEach((value, at) => {
      expect(Math.abs(value - (original[at] ?? Number.NaN) / (length || 1))).toBeLessThan(1e-7);
    });
  }
});
