import { expect, it } from "vitest";
import { Projector } from "./projector.js";
import { tSne } from "./t-sne.js";

const settings = { dimensions: 2, iterations: 20, perplexity: 2, learningRate: 25 };
const context = { deadline: Number.POSITIVE_INFINITY };
const projector = () => new Projector("some-module", { nowMs: Date.now });

function line(rows: number): readonly Float32Array[] {
  return Array.from({ length: rows }, (_, at) => Float32Array.of(at, 1, at * at));
}

it("gives the points of t-SNE, row by row", async () => {
  await using projections = projector();
  const rows = line(5);
  const points = tSne(Float32Array.from(rows.flatMap((row) => [...row])), rows.length, settings);
  expect((await projections.project(rows, settings, context)).flat()).toEqual([...points]);
});

it("refuses what takes too long or too much memory, whatever it is that makes it large", async () => {
  await using projections = projector();
  const refusal = (rows: number, dimensions: number, iterations: number) => {
    const asked = { dimensions, iterations, perplexity: 5, learningRate: 25 };
    return expect(projections.project(line(rows), asked, context)).rejects;
  };
  await refusal(2_001, 1, 1).toMatchObject({ code: "invalid", message: expect.stringContaining("at most 2000") });
  const tooMuch = { code: "invalid", message: expect.stringContaining("are too much to project") };
  await refusal(1_800, 2, 100).toMatchObject(tooMuch);
  await refusal(500, 99, 100).toMatchObject(tooMuch);
  await refusal(100, 2, 50_000).toMatchObject(tooMuch);
});

it("forgets those that nobody waits for any more, and refuses those for which there is no room", async () => {
  await using projections = projector();
  const caller = new AbortController();
  const { signal } = caller;
  const asked = () => projections.project(line(400), { ...settings, iterations: 400 }, { ...context, signal });
  const outcomes = Array.from({ length: 34 }, () => asked().catch((thrown: Error) => thrown));
  await expect(outcomes[33]).resolves.toMatchObject({ code: "overloaded", retryAfterSeconds: 1 });
  caller.abort(new Error("gone away"));
  for (const outcome of outcomes.slice(0, 33)) await expect(outcome).resolves.toMatchObject({ message: "gone away" });
  await expect(projections.project(line(5), settings, context)).resolves.toHaveLength(5);
});
