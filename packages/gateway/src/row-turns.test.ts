import { describe, expect, it } from "vitest";
import { RowTurns, WAITING_MAX } from "./row-turns.js";

const CONTEXT = { deadline: Number.POSITIVE_INFINITY };
const of = (owner: string) => ({ ...CONTEXT, share: { owner, connection: 0 } });

/** A read of so many rows that ends when it is told to. */
function begin(turns: RowTurns, rows: number) {
  let end = (): void => {};
  const read = turns.run(
    rows,
    CONTEXT,
    () =>
      new Promise<void>((resolve) => {
        end = resolve;
      }),
  );
  return { end: () => end(), read };
}

// What its gate promises has tests of its own.
describe("RowTurns", () => {
  it("lets reads begin while their rows fit, and small ones always", async () => {
    const turns = new RowTurns(1_000);
    const first = begin(turns, 600);
    const order: string[] = [];
    const second = turns.run(600, CONTEXT, async () => order.push("second"));
    await turns.run(256, CONTEXT, async () => order.push("small"));
    expect([turns.rows, turns.waiting]).toEqual([600, 1]);
    first.end();
    await Promise.all([first.read, second]);
    expect(order).toEqual(["small", "second"]);
    expect([turns.rows, turns.waiting]).toEqual([0, 0]);
  });

  it("refuses when too many wait, first whoever has most waiting, and forgets who has gone", async () => {
    const turns = new RowTurns(1_000);
    const first = begin(turns, 1_000);
    const gone = new AbortController();
    const left = turns.run(900, { ...of("hog"), signal: gone.signal }, async () => "never");
    const wait = (owner: string): Promise<string> =>
      turns.run(900, of(owner), async () => "done").catch(({ code, message }) => `${code}: ${message}`);
    const waiting = Array.from({ length: WAITING_MAX - 1 }, () => wait("hog"));
    const refused = `overloaded: more than ${WAITING_MAX} reads of many rows wait`;
    expect(await wait("hog")).toBe(refused);
    waiting.push(wait("other"));
    gone.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    expect(turns.waiting).toBe(WAITING_MAX - 1);
    first.end();
    await first.read;
    const outcomes = await Promise.all(waiting);
    expect(outcomes.filter((one) => one !== "done")).toEqual([refused]);
    expect(outcomes.at(-1)).toBe("done");
    expect([turns.rows, turns.waiting]).toEqual([0, 0]);
  });
});
