import { LoopCounter } from "@shoal/runtime/testing/loop-counter";
import { expect, it } from "vitest";
import { STEP_LENGTH, writeInSteps } from "./write-in-steps.js";

const NOBODY = undefined;

it("yields after each step", async () => {
  using counter = new LoopCounter();
  const seen: number[] = [];
  // Three of them make a step.
  const part = "é".repeat(Math.ceil(STEP_LENGTH / 3));
  function* parts() {
    for (let i = 0; i < 32; i++) {
      seen.push(counter.iterations);
      yield part;
    }
  }
  const chunks = await writeInSteps(parts(), "utf8", NOBODY);
  expect(new Set(seen).size).toBe(11);
  expect(Buffer.concat(chunks).toString()).toBe(part.repeat(32));
  expect(chunks).toHaveLength(11);
});

it("puts bytes between texts, where they stand, and yields for them, too", async () => {
  using counter = new LoopCounter();
  const seen = new Set<number>();
  // Two of them make a step.
  const bytes = Buffer.alloc(2 * Math.ceil(STEP_LENGTH / 3.8), "ö");
  function* parts() {
    for (let i = 0; i < 32; i++) {
      seen.add(counter.iterations);
      yield "é,";
      yield bytes;
      if (i % 3 === 0) yield bytes.subarray(0, i * 2);
    }
    yield bytes.subarray(0, 2);
  }
  const chunks = await writeInSteps(parts(), "utf8", NOBODY);
  expect(seen.size).toBe(16);
  const expected = Array.from({ length: 32 }, (_, i) => `é,${bytes}${i % 3 === 0 ? "ö".repeat(i) : ""}`);
  expect(Buffer.concat(chunks).toString()).toBe(`${expected.join("")}ö`);
  expect(await writeInSteps([Buffer.from("ö"), "\u00c3\u00a9"], "latin1", NOBODY)).toEqual([Buffer.from("öé")]);
});

it("writes short texts at once, also none", async () => {
  expect(await writeInSteps(["a", "b"], "utf8", NOBODY)).toEqual([Buffer.from("ab")]);
  expect(await writeInSteps(["\u00c3\u00a9"], "latin1", NOBODY)).toEqual([Buffer.from("é")]);
  expect(await writeInSteps([], "utf8", NOBODY)).toEqual([Buffer.alloc(0)]);
});
