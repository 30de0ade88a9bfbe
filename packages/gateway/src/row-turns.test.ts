import { describe, expect, it } from "vitest";
import { RowTurns, WAITING_MAX } from "./row-turns.js";

const CONTEXT = { deadline: Number.POSITIVE_INFINITY };

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A read that ends when it is told to. */
function held() {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const read = { begun: false, end: () => end() };
  return Object.assign(read, {
    run: () => {
      read.begun = true;
      return ended;
    },
  });
}

describe("RowTurns", () => {
  it("lets reads begin while their rows fit, in order, and small ones always", async () => {
    const turns = new RowTurns(1_000);
    const [first, second, third, small] = [held(), held(), held(), held()];
    const runs = [
      turns.run(600, CONTEXT, first.run),
      turns.run(600, CONTEXT, second.run),
      turns.run(300, CONTEXT, third.run),
      turns.run(256, CONTEXT, small.run),
    ];
    await settle();
    // The third would fit, but the second came before it.
    expect([first.begun, second.begun, third.begun, small.begun]).toEqual([true, false, false, true]);
    expect([turns.rows, turns.waiting]).toEqual([600, 2]);
    first.end();
    await settle();
    expect([second.begun, third.begun]).toEqual([true, true]);
    for (const read of [second, third, small]) read.end();
    await Promise.all(runs);
    expect([turns.rows, turns.waiting]).toEqual([0, 0]);
  });

  it("lets a read that is larger than all may be go alone, and one that fails give its rows back", async () => {
    const turns = new RowTurns(1_000);
    const [large, other] = [held(), held()];
    const run = turns.run(5_000, CONTEXT, large.run);
    const failing = turns.run(300, CONTEXT, async () => {
      await other.run();
      throw new Error("broken");
    });
    await settle();
    expect([large.begun, other.begun]).toEqual([true, false]);
    large.end();
    await run;
    other.end();
    await expect(failing).rejects.toThrow("broken");
    expect(turns.rows).toBe(0);
  });

  it("refuses when too many wait, and forgets who has gone", async () => {
    const turns = new RowTurns(1_000);
    const first = held();
    const run = turns.run(1_000, CONTEXT, first.run);
    const gone = new AbortController();
    const left = turns.run(900, { ...CONTEXT, signal: gone.signal }, async () => "never");
    const waiting = Array.from({ length: WAITING_MAX - 1 }, () => turns.run(900, CONTEXT, async () => "done"));
    await expect(turns.run(900, CONTEXT, async () => "x")).rejects.toMatchObject({ code: "overloaded" });
    gone.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    await expect(turns.run(900, { ...CONTEXT, signal: gone.signal }, async () => "x")).rejects.toThrow("gone");
    expect(turns.waiting).toBe(WAITING_MAX - 1);
    first.end();
    await run;
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(["done"]));
    expect([turns.rows, turns.waiting]).toEqual([0, 0]);
  });
});
