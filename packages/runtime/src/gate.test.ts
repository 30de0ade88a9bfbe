import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { Gate } from "./gate.js";
import type { Share } from "./request-context.js";

const FULL = new Error("too many wait");
const gateOf = (max: number, waitingMax = 100): Gate => new Gate({ max, waitingMax, fullError: () => FULL });
const of = (owner: string, connection = 0): Share => ({ owner, connection });

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Work that ends when it is told to. */
function held() {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const work = { begun: false, end: () => end() };
  return Object.assign(work, {
    run: () => {
      work.begun = true;
      return ended;
    },
  });
}

describe("Gate", () => {
  it("lets work begin while it fits, one share in order, and what is larger than everything alone", async () => {
    const gate = gateOf(1_000);
    const [first, second, third, large] = [held(), held(), held(), held()];
    const runs = [
      gate.run(600, {}, first.run),
      gate.run(600, {}, second.run),
      gate.run(300, {}, third.run),
      gate.run(5_000, {}, large.run),
    ];
    await settle();
    // The third would fit, but the second came before it.
    expect([first.begun, second.begun, third.begun]).toEqual([true, false, false]);
    expect([gate.begun, gate.waiting]).toEqual([600, 3]);
    first.end();
    await settle();
    expect([second.begun, third.begun, large.begun]).toEqual([true, true, false]);
    second.end();
    third.end();
    await settle();
    expect([large.begun, gate.begun]).toEqual([true, 5_000]);
    large.end();
    await Promise.all(runs);
    expect([gate.begun, gate.waiting]).toEqual([0, 0]);
  });

  it("refuses when too many wait, forgets who has gone, and gives back what fails", async () => {
    const gate = gateOf(10, 2);
    const first = held();
    const run = gate.run(10, {}, first.run);
    const gone = new AbortController();
    const left = gate.run(9, { signal: gone.signal }, async () => "never");
    const failing = gate.run(9, {}, async () => {
      throw new Error("broken");
    });
    await expect(gate.run(1, {}, async () => "x")).rejects.toBe(FULL);
    gone.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    await expect(gate.run(1, { signal: gone.signal }, async () => "x")).rejects.toThrow("gone");
    first.end();
    await run;
    await expect(failing).rejects.toThrow("broken");
    expect([gate.begun, gate.waiting]).toEqual([0, 0]);
  });

  it("S10: refuses who has most waiting rather than one who has nothing", async () => {
    const gate = gateOf(1, 4);
    const first = held();
    const run = gate.run(1, { share: of("hog") }, first.run);
    const outcomes: string[] = [];
    const wait = (owner: string, name: string): Promise<unknown> =>
      gate.run(1, { share: of(owner) }, async () => outcomes.push(name)).catch(() => outcomes.push(`no ${name}`));
    const waits = ["h1", "h2", "h3", "h4", "h5"].map((name) => wait("hog", name));
    await settle();
    expect(outcomes).toEqual(["no h5"]);
    waits.push(wait("other", "o1"), wait("other", "o2"), wait("other", "o3"));
    await settle();
    expect(outcomes.toSorted()).toEqual(["no h3", "no h4", "no h5", "no o3"]);
    first.end();
    await Promise.all([run, ...waits]);
    expect(outcomes.slice(4)).toEqual(["h1", "o1", "h2", "o2"]);
  });

  it("S10: lets one that is alone wait with as many parts as it has, until others come", async () => {
    const gate = new Gate({ max: 1, waitingMax: 4, mayWaitAlone: true, fullError: () => FULL });
    const first = held();
    const outcomes: string[] = [];
    const wait = (share: Share, name: string): Promise<unknown> =>
      gate.run(1, { share }, async () => outcomes.push(name)).catch(() => outcomes.push(`no ${name}`));
    const run = gate.run(1, { share: of("one", 1) }, first.run);
    const waits = Array.from({ length: 8 }, (_, at) => wait(of("one", 1), `part ${at}`));
    await settle();
    expect([outcomes, gate.waiting]).toEqual([[], 8]);
    waits.push(wait(of("one", 2), "other"));
    await settle();
    expect(outcomes).toEqual(["no part 7", "no part 6", "no part 5", "no part 4", "no part 3"]);
    waits.push(wait(of("one", 1), "late"));
    await settle();
    expect(outcomes.at(-1)).toBe("no late");
    first.end();
    await Promise.all([run, ...waits]);
    expect(outcomes.slice(6)).toEqual(["part 0", "other", "part 1", "part 2"]);
  });

  it("refuses too many of nobody's: they may be of many requests", async () => {
    const gate = new Gate({ max: 1, waitingMax: 1, mayWaitAlone: true, fullError: () => FULL });
    const first = held();
    const runs = [gate.run(1, {}, first.run), gate.run(1, {}, async () => {})];
    await expect(gate.run(1, {}, async () => {})).rejects.toBe(FULL);
    first.end();
    await Promise.all(runs);
  });

  it.each([1, 2, 3])(
    "seed %i: never passes its most, loses nothing, and leaves nobody waiting for ever",
    async (seed) => {
      const { below, oneIn, pick } = seededRandom(seed);
      const gate = gateOf(50, 20);
      const running = new Map<number, { readonly amount: number; readonly end: () => void }>();
      const runs: Promise<unknown>[] = [];
      const counts = { begun: 0, refused: 0, aborted: 0 };
      for (let number = 0; number < 3_000; number++) {
        const amount = 1 + below(oneIn(10) ? 80 : 25);
        const abort = new AbortController();
        const work = (): Promise<void> =>
          new Promise<void>((resolve) => {
            counts.begun++;
            running.set(number, { amount, end: resolve });
          }).then(() => void running.delete(number));
        const bounds = { share: of(pick(["a", "b", "c"]), below(3)), signal: abort.signal };
        runs.push(
          gate.run(amount, bounds, work).catch((error: unknown) => {
            if (error === FULL) counts.refused++;
            else counts.aborted++;
          }),
        );
        if (oneIn(5)) abort.abort(new Error("gone"));
        await settle();
        const reached = [...running.values()].reduce((sum, one) => sum + one.amount, 0);
        expect(gate.begun).toBe(reached);
        expect(reached <= 50 || running.size === 1).toBe(true);
        expect(running.size > 0 || gate.waiting === 0).toBe(true);
        expect(gate.waiting).toBeLessThanOrEqual(20);
        while (running.size > 0 && oneIn(3)) {
          const [ended, { end }] = pick([...running]);
          running.delete(ended);
          end();
          await settle();
        }
      }
      while (running.size > 0) {
        for (const { end } of running.values()) end();
        await settle();
      }
      await Promise.all(runs);
      expect([gate.begun, gate.waiting]).toEqual([0, 0]);
      expect(counts.begun + counts.refused + counts.aborted).toBe(3_000);
      expect(Math.min(counts.begun, counts.refused, counts.aborted)).toBeGreaterThan(10);
    },
  );
});
