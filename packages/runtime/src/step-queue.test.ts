import { LoopCounter } from "@shoal/runtime/testing/loop-counter";
import { afterEach, describe, expect, it, vi } from "vitest";
import { StepQueue } from "./step-queue.js";

it("gives everyone an iteration of its own, in order", async () => {
  using counter = new LoopCounter();
  const queue = new StepQueue(() => 0);
  const seen: [number, number][] = [];
  const wait = async (name: number): Promise<void> => {
    await queue.next();
    seen.push([name, counter.iterations]);
  };
  await Promise.all([wait(0), wait(1), wait(2)]);
  await Promise.all([wait(3), wait(4)]);
  expect(seen.map(([name]) => name)).toEqual([0, 1, 2, 3, 4]);
  expect(new Set(seen.map(([, at]) => at)).size).toBe(5);
});

it("gives room at once until the time of an iteration is spent, then an iteration of its own to each in order", async () => {
  using counter = new LoopCounter();
  let now = 0;
  const queue = new StepQueue(() => now);
  expect([queue.room(), queue.room()]).toEqual([undefined, undefined]);
  now += 25;
  const begun = counter.iterations;
  const seen: [number, number][] = [];
  const wait = async (name: number): Promise<void> => {
    await queue.room();
    seen.push([name, counter.iterations]);
  };
  await Promise.all([wait(0), wait(1), wait(2)]);
  expect(seen.map(([name]) => name)).toEqual([0, 1, 2]);
  expect(new Set(seen.map(([, at]) => at)).size).toBe(3);
  expect(seen[1]?.[1]).toBeGreaterThan(begun);
  // A new iteration has room again.
  await queue.next();
  expect(queue.room()).toBeUndefined();
});

it("S10: gives an owner with one long request as many steps as one with forty", async () => {
  const queue = new StepQueue(() => 0);
  const taken = { many: 0, one: 0 };
  const work = async (owner: keyof typeof taken, connection: number): Promise<void> => {
    while (taken.many + taken.one < 400) {
      await queue.next({ owner, connection });
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

  /** What share of a time by a clock of its own somebody's steps take, while `ask` is called in each iteration of the event loop. */
  async function shareOfSteps(ask: (queue: StepQueue, nowMs: number) => void): Promise<number> {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    let now = 0;
    const queue = new StepQueue(() => now);
    let steps = 0;
    const work = (async () => {
      while (now < TOTAL_MS) {
        await queue.next({ owner: "large", connection: 1 });
        now += STEP_MS;
        steps++;
      }
    })();
    let isDone = false;
    void work.then(() => {
      isDone = true;
    });
    while (!isDone) {
      ask(queue, now);
      await new Promise((resolve) => setImmediate(resolve));
      // Nothing is to be done: time goes by.
      if (vi.getTimerCount() === 0) continue;
      now += 1;
      await vi.advanceTimersByTimeAsync(1);
    }
    return (steps * STEP_MS) / now;
  }

  it("steps get a third of the time", async () => {
    const share = await shareOfSteps((queue, now) => {
      queue.begins(SMALL);
      if (now % 10 > 3) queue.ends(SMALL);
    });
    expect(share).toBeGreaterThan(0.25);
    expect(share).toBeLessThan(0.45);
  });

  it("and all of it when none come", async () => {
    expect(await shareOfSteps(() => {})).toBe(1);
    // The last one is long ago.
    const late = await shareOfSteps((queue, now) => {
      if (now > 4) return;
      queue.begins(SMALL);
      queue.ends(SMALL);
    });
    expect(late).toBeGreaterThan(0.85);
  });

  it("a request that waits for a step, or takes long, is not small", async () => {
    const waits = await shareOfSteps((queue) => {
      queue.begins({ owner: "large", connection: 2 });
      void queue.next({ owner: "large", connection: 2 });
      queue.ends({ owner: "large", connection: 2 });
    });
    // The other half of the iterations are those of the request.
    expect(waits).toBe(1);
    let begun = false;
    const long = await shareOfSteps((queue) => {
      if (!begun) queue.begins(SMALL);
      begun = true;
    });
    expect(long).toBeGreaterThan(0.9);
  });
});
