import { LoopCounter } from "@shoal/runtime/testing/loop-counter";
import { expect, it } from "vitest";
import { Yielder } from "./yielder.js";

/** Resolves with the numbers of the iterations in which each of some works did its steps. */
async function iterationsOf(works: readonly Yielder[], steps: number): Promise<readonly number[][]> {
  using counter = new LoopCounter();
  return await Promise.all(
    works.map(async (yielder) => {
      const own: number[] = [];
      for (let step = 0; step < steps; step++) {
        yielder.count(10);
        if (yielder.isDue) {
          await yielder.next();
          own.push(counter.iterations);
        }
      }
      return own;
    }),
  );
}

it("S10: no two long works have the same iteration of the event loop, whoever made them", async () => {
  const works = Array.from(
    { length: 5 },
    (_, at) => new Yielder(10, { share: { owner: `${at % 2}`, connection: at } }),
  );
  const taken = await iterationsOf(works, 20);
  expect(taken.map(({ length }) => length)).toEqual(new Array(5).fill(20));
  expect(new Set(taken.flat()).size).toBe(100);
});

it("S10: owners get as many steps as each other, however much work they have", async () => {
  const many = Array.from({ length: 9 }, (_, at) => new Yielder(10, { share: { owner: "many", connection: at } }));
  const [one = [], ...rest] = await iterationsOf(
    [new Yielder(10, { share: { owner: "one", connection: 1 } }), ...many],
    20,
  );
  const until = one.at(-1) ?? 0;
  expect(rest.flat().filter((iteration) => iteration <= until).length).toBeLessThanOrEqual(22);
});

it("is due when as much was counted as a step may have, and begins again with the next", async () => {
  const yielder = new Yielder(100);
  yielder.count(99);
  expect(yielder.isDue).toBe(false);
  yielder.count(1);
  expect(yielder.isDue).toBe(true);
  await yielder.next();
  expect(yielder.isDue).toBe(false);
});

it("goes by a clock where it is given one", async () => {
  let now = 5;
  const yielder = new Yielder(2, {}, () => now);
  now = 6;
  yielder.count(1_000);
  expect(yielder.isDue).toBe(false);
  now = 7;
  expect(yielder.isDue).toBe(true);
  await yielder.next();
  expect(yielder.isDue).toBe(false);
});

it("ends when its signal has fired, and asks for the signal between steps only", async () => {
  const abort = new AbortController();
  let asked = 0;
  const yielder = new Yielder(1, {
    get signal() {
      asked++;
      return abort.signal;
    },
  });
  yielder.count(1);
  expect(yielder.isDue).toBe(true);
  expect(asked).toBe(0);
  await yielder.next();
  abort.abort(new Error("gone"));
  await expect(yielder.next()).rejects.toThrow("gone");
});
