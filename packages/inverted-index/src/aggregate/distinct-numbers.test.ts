import { runWork } from "@shoal/runtime";
import { expect, test } from "vitest";
import { indexYielder } from "../index-yielder.js";
import { distinctNumbers } from "./distinct-numbers.js";

/** More than are sorted at once, in none, in few and in many runs. */
test.each([0, 1, 5, 16_384, 16_385, 50_000, 131_072])("%i numbers", async (length) => {
  const list = Float64Array.from({ length }, (_, at) => ((at * 7919) % 10_007) / 4 - 1000);
  const occurs = new Map<number, number>();
  for (const value of list) occurs.set(value, 1 + (occurs.get(value) ?? 0));
  const expected = [...occurs].sort((a, b) => a[0] - b[0]);
  const { values, counts } = await runWork(distinctNumbers(list, indexYielder()));
  expect(Array.from(values)).toEqual(expected.map(([value]) => value));
  expect(Array.from(counts)).toEqual(expected.map(([, count]) => count));
});
