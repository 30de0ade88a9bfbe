import { TurnCounter } from "@shoal/turn-counter";
import { afterEach, describe, expect, it, vi } from "vitest";
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

describe("while small requests come (S10)", () => {
  const SMALL = { owner: "small", connection: 7 };
  const STEP_MS = 2;
  const TOTAL_MS = 600;

  afterEach(() => vi.useRealTimers());

  /** What share of a time by a clock of its own somebody's steps take, while `ask` is called in each turn of the event loop. */
  async function shareOfSteps(ask: (turns: Turns, nowMs: number) => void): Promise<number> {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    let now = 0;
    const turns = new Turns(() => now);
    let steps = 0;
    const work = (async () => {
      while (now < TOTAL_MS) {
        await turns.next({ owner: "large", connection: 1 });
        now += STEP_MS;
        steps++;
      }
    })();
    let isDone = false;
    void work.then(() => {
      isDone = true;
    });
    while (!isDone) {
      ask(turns, now);
      await new Promise((resolve) => setImmediate(resolve));
      // Nothing is to be done: time goes by.
      if (vi.getTimerCount() === 0) continue;
      now += 1;
      await vi.advanceTimersByTimeAsync(1);
    }
    return (steps * STEP_MS) / now;
  }

  it("steps get a third of the time", async () => {
    const share = await shareOfSteps((turns, now) => {
      turns.begins(SMALL);
      if (now % 10 > 3) turns.ends(SMALL);
    });
    expect(share).toBeGreaterThan(0.25);
    expect(share).toBeLessThan(0.45);
  });

  it("and all of it when none come", async () => {
    expect(await shareOfSteps(() => {})).toBe(1);
    // The last one is long ago.
    const late = await shareOfSteps((turns, now) => {
      if (now > 4) return;
      turns.begins(SMALL);
      turns.ends(SMALL);
    });
    expect(late).toBeGreaterThan(0.85);
  });

  it("a request that waits for a turn, or takes long, is not small", async () => {
    const waits = await shareOfSteps((turns) => {
      turns.begins({ owner: "large", connection: 2 });
      void turns.next({ owner: "large", connection: 2 });
      turns.ends({ owner: "large", connection: 2 });
    });
    // The other half of the turns are those of the request.
    expect(waits).toBe(1);
    let begun = false;
    const long = await shareOfSteps((turns) => {
      if (!begun) turns.begins(SMALL);
      begun = true;
    });
    expect(long).toBeGreaterThan(0.9);
  });
});
