import { TurnCounter } from "@shoal/turn-counter";
import { expect, it } from "vitest";
import { WorkTurns } from "./work-turns.js";

/** Resolves with the numbers of the turns in which each of some works did its steps. */
async function turnsOf(works: readonly WorkTurns[], steps: number): Promise<readonly number[][]> {
  using counter = new TurnCounter();
  return await Promise.all(
    works.map(async (turns) => {
      const own: number[] = [];
      for (let step = 0; step < steps; step++) {
        turns.count(10);
        if (turns.isOver) {
          await turns.next();
          own.push(counter.turns);
        }
      }
      return own;
    }),
  );
}

it("S10: no two long works have the same turn of the event loop, whoever made them", async () => {
  const works = Array.from(
    { length: 5 },
    (_, at) => new WorkTurns(10, { share: { owner: `${at % 2}`, connection: at } }),
  );
  const taken = await turnsOf(works, 20);
  expect(taken.map(({ length }) => length)).toEqual(new Array(5).fill(20));
  expect(new Set(taken.flat()).size).toBe(100);
});

it("S10: owners get as many turns as each other, however much work they have", async () => {
  const many = Array.from({ length: 9 }, (_, at) => new WorkTurns(10, { share: { owner: "many", connection: at } }));
  const [one = [], ...rest] = await turnsOf(
    [new WorkTurns(10, { share: { owner: "one", connection: 1 } }), ...many],
    20,
  );
  const until = one.at(-1) ?? 0;
  expect(rest.flat().filter((turn) => turn <= until).length).toBeLessThanOrEqual(22);
});

it("is over when as much was counted as a turn may have, and begins anew with the next", async () => {
  const turns = new WorkTurns(100);
  turns.count(99);
  expect(turns.isOver).toBe(false);
  turns.count(1);
  expect(turns.isOver).toBe(true);
  await turns.next();
  expect(turns.isOver).toBe(false);
});

it("goes by a clock where it is given one", async () => {
  let now = 5;
  const turns = new WorkTurns(2, {}, () => now);
  now = 6;
  turns.count(1_000);
  expect(turns.isOver).toBe(false);
  now = 7;
  expect(turns.isOver).toBe(true);
  await turns.next();
  expect(turns.isOver).toBe(false);
});

it("ends when its signal has fired, and asks for the signal between turns only", async () => {
  const abort = new AbortController();
  let asked = 0;
  const turns = new WorkTurns(1, {
    get signal() {
      asked++;
      return abort.signal;
    },
  });
  turns.count(1);
  expect(turns.isOver).toBe(true);
  expect(asked).toBe(0);
  await turns.next();
  abort.abort(new Error("gone"));
  await expect(turns.next()).rejects.toThrow("gone");
});
