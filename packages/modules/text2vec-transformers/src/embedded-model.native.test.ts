import { ShoalError } from "@shoal/model";
import { expect, it } from "vitest";
import { EmbeddedModel } from "./language-model.js";

const inTime = () => ({ deadline: Date.now() + 60_000 });

function cosine(a: Float32Array, b: Float32Array): number {
  const dot = (x: Float32Array, y: Float32Array) => x.reduce((sum, number, i) => sum + number * (y[i] ?? 0), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

it.skipIf(!EmbeddedModel.isInstalled)(
  "puts together what means the same, and leaves out what is no text (needs @energetic-ai)",
  async () => {
    await using model = new EmbeddedModel({ nowMs: Date.now });
    const pairs = [
      ["The team won the football match", "They were victorious in the soccer game"],
      ["Shares fell on fears of a recession", "The stock market dropped because of the economy"],
      ["How do I bake bread?", "A recipe for a loaf with flour and yeast"],
      ["The cat sleeps on the sofa", "A kitten is napping on the couch"],
    ] as const;
    const texts = [...pairs.map(([text]) => text), " ", ...pairs.map(([, text]) => text), "word ".repeat(5_000)];
    const outcomes = await model.vectorsOf(texts, "", inTime());
    const vectors = outcomes.flatMap((outcome) => (outcome instanceof ShoalError ? [] : outcome));
    expect(outcomes[pairs.length]).toMatchObject({ code: "invalid" });
    expect(vectors.map(({ length }) => length)).toEqual(new Array(2 * pairs.length + 1).fill(512));
    for (const [i, vector] of vectors.slice(0, pairs.length).entries()) {
      const others = vectors.slice(pairs.length, 2 * pairs.length).map((other) => cosine(vector, other));
      expect(others.indexOf(Math.max(...others))).toBe(i);
    }
  },
);
