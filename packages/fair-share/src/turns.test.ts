import { expect, it } from "vitest";
import { TurnCounter } from "./testing/turn-counter.js";
import { Turns } from "./turns.js";

it("gives everyone a turn of its own, in order", async () => {
  using counter = new TurnCounter();
  const turns = new Turns(() => 0);
  const seen: [number, number][] = [];
  const wait = async (name: number): Promise<void> => {
    await turns.next();
    seen.push([name, counter.turns]);
  };
  await Promise.all([wait(0), wait(1), wait(2)]);
  await Promise.all([wait(3), wait(4)]);
  expect(seen.map(([name]) => name)).toEqual([0, 1, 2, 3, 4]);
  expect(new Set(seen.map(([, at]) => at)).size).toBe(5);
});

it("gives room at once until a turn is spent, then a turn of its own to each in order", async () => {
  using counter = new TurnCounter();
  let now = 0;
  const turns = new Turns(() => now);
  expect([turns.room(), turns.room()]).toEqual([undefined, undefined]);
  now += 25;
  const begun = counter.turns;
  const seen: [number, number][] = [];
  const wait = async (name: number): Promise<void> => {
    await turns.room();
    seen.push([name, counter.turns]);
  };
  await Promise.all([wait(0), wait(1), wait(2)]);
  expect(seen.map(([name]) => name)).toEqual([0, 1, 2]);
  expect(new Set(seen.map(([, at]) => at)).size).toBe(3);
  expect(seen[1]?.[1]).toBeGreaterThan(begun);
  // A new turn has room again.
  await turns.next();
  expect(turns.room()).toBeUndefined();
});

it("S10: gives an owner with one long request as many turns as one with forty", async () => {
  const turns = new Turns(() => 0);
  const taken = { many: 0, one: 0 };
  const work = async (owner: keyof typeof taken, connection: number): Promise<void> => {
    while (taken.many + taken.one < 400) {
      await turns.next({ owner, connection });
      taken[owner]++;
    }
  };
  await Promise.all([...Array.from({ length: 40 }, (_, i) => work("many", i)), work("one", 99)]);
  expect(Math.abs(taken.many - taken.one)).toBeLessThan(45);
});
