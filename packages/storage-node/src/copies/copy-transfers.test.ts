import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { CopyTransfers } from "./copy-transfers.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const never = new AbortController().signal;

it("begins four at once; the next when one has ended, or is asked for nothing any more", async () => {
  const transfers = new CopyTransfers(1_000);
  const begun: number[] = [];
  const all = Array.from({ length: 7 }, async (_, at) => {
    const transfer = await transfers.begin(never);
    begun.push(at);
    return transfer;
  });
  await setImmediate();
  expect(begun).toEqual([0, 1, 2, 3]);
  (await all[1])?.end();
  (await all[1])?.end();
  await setImmediate();
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  vi.advanceTimersByTime(9_000);
  for (const at of [0, 2, 4]) (await all[at])?.use();
  vi.advanceTimersByTime(2_000);
  await setImmediate();
  expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
});

it("gives no place to one that does not wait any more", async () => {
  const transfers = new CopyTransfers(1_000);
  const first = await Promise.all([1, 2, 3, 4].map(() => transfers.begin(never)));
  const ending = new AbortController();
  const waiting = transfers.begin(ending.signal);
  const next = transfers.begin(never);
  ending.abort(new Error("over"));
  await expect(waiting).rejects.toThrow("over");
  first[0]?.end();
  await next;
});

it("lets so many bytes go in a second", async () => {
  const transfers = new CopyTransfers(1_000);
  const paid: number[] = [];
  const all = [500, 1_000, 200].map(async (bytes) => {
    await transfers.pay(bytes, "rows", never);
    paid.push(bytes);
  });
  await setImmediate();
  expect(paid).toEqual([500]);
  await vi.advanceTimersByTimeAsync(500);
  expect(paid).toEqual([500, 1_000]);
  await vi.advanceTimersByTimeAsync(990);
  expect(paid).toEqual([500, 1_000]);
  await vi.advanceTimersByTimeAsync(20);
  expect(paid).toEqual([500, 1_000, 200]);
  await Promise.all(all);
  // What was not used is not saved up.
  vi.advanceTimersByTime(60_000);
  await transfers.pay(1_000, "rows", never);
  const next = transfers.pay(1, "rows", never);
  await vi.advanceTimersByTimeAsync(990);
  expect(await Promise.race([next.then(() => "paid"), setImmediate("waits")])).toBe("waits");
  await vi.advanceTimersByTimeAsync(20);
  await next;
});

it("charges nothing for what is not sent, and lets the next one go in its place", async () => {
  const transfers = new CopyTransfers(1_000);
  await transfers.pay(1_000, "graph", never);
  const ended = [new AbortController(), new AbortController()];
  // The first one waits for its time, the other one for the first.
  const unpaid = ended.map(({ signal }) => transfers.pay(1e9, "rows", signal));
  const next = transfers.pay(20, "rows", never);
  await setImmediate();
  for (const one of ended) one.abort(new Error("over"));
  for (const one of unpaid) await expect(one).rejects.toThrow("over");
  await vi.advanceTimersByTimeAsync(990);
  expect(await Promise.race([next.then(() => "paid"), setImmediate("waits")])).toBe("waits");
  await vi.advanceTimersByTimeAsync(20);
  await next;
  expect(transfers.sentBytes).toEqual({ rows: 20, graph: 1_000 });
});
