import { expect, it } from "vitest";
import { project } from "./project.js";

const context = { deadline: Number.POSITIVE_INFINITY };

function refusal(rows: number, dimensions: number, iterations: number) {
  const vectors = Array.from({ length: rows }, () => Float32Array.of(1));
  const settings = { dimensions, iterations, perplexity: 5, learningRate: 25 };
  return expect(project(vectors, settings, context)).rejects;
}

it("refuses what takes too long or too much memory, whatever it is that makes it large", async () => {
  await refusal(2_001, 1, 1).toMatchObject({ code: "invalid", message: expect.stringContaining("at most 2000") });
  const tooMuch = { code: "invalid", message: expect.stringContaining("are too much to project") };
  await refusal(1_800, 2, 100).toMatchObject(tooMuch);
  await refusal(500, 99, 100).toMatchObject(tooMuch);
  await refusal(100, 2, 50_000).toMatchObject(tooMuch);
});
