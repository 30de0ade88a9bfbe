import { describe, expect, it } from "vitest";
import { RowGate, WAITING_MAX } from "./row-gate.js";

const CONTEXT = { deadline: Number.POSITIVE_INFINITY };
const of = (owner: string) => ({ ...CONTEXT, share: { owner, connection: 0 } });

/** A read of so many rows that ends when it is told to. */
function begin(rowGate: RowGate, rows: number) {
  let end = (): void => {};
  const read = rowGate.run(
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
describe("RowGate", () => {
  it("lets reads begin while their rows fit, and small ones always", async () => {
    const rowGate = new RowGate(1_000);
    const first = begin(rowGate, 600);
    const order: string[] = [];
    const second = rowGate.run(600, CONTEXT, async () => order.push("second"));
    await rowGate.run(256, CONTEXT, async () => order.push("small"));
    expect([rowGate.rows, rowGate.waiting]).toEqual([600, 1]);
    first.end();
    await Promise.all([first.read, second]);
    expect(order).toEqual(["small", "second"]);
    expect([rowGate.rows, rowGate.waiting]).toEqual([0, 0]);
  });

  it("refuses when too many wait, first whoever has most waiting, and forgets who has gone", async () => {
    const rowGate = new RowGate(1_000);
    const first = begin(rowGate, 1_000);
    const gone = new AbortController();
    const left = rowGate.run(900, { ...of("hog"), signal: gone.signal }, async () => "never");
    const wait = (owner: string): Promise<string> =>
      rowGate.run(900, of(owner), async () => "done").catch(({ code, message }) => `${code}: ${message}`);
    const waiting = Array.from({ length: WAITING_MAX - 1 }, () => wait("hog"));
    const refused = `overloaded: more than ${WAITING_MAX} reads of many rows wait`;
    expect(await wait("hog")).toBe(refused);
    waiting.push(wait("other"));
    gone.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    expect(rowGate.waiting).toBe(WAITING_MAX - 1);
    first.end();
    await first.read;
    const outcomes = await Promise.all(waiting);
    expect(outcomes.filter((one) => one !== "done")).toEqual([refused]);
    expect(outcomes.at(-1)).toBe("done");
    expect([rowGate.rows, rowGate.waiting]).toEqual([0, 0]);
  });
});
