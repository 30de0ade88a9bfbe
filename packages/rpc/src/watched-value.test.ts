import { expect, it, vi } from "vitest";
import { WatchedValue } from "./watched-value.js";

it("gives the known value, and then every new one, until disposed of", () => {
  const value = new WatchedValue<number | undefined>(undefined);
  const reported: string[] = [];
  const first = value.watch((one) => reported.push(`first ${one}`));
  expect(reported).toEqual([]);
  value.set(1);
  const second = value.watch((one) => reported.push(`second ${one}`));
  value.set(2);
  first[Symbol.dispose]();
  value.set(3);
  value.forgetListeners();
  value.set(4);
  second[Symbol.dispose]();
  expect(reported).toEqual(["first 1", "second 1", "first 2", "second 2", "second 3"]);
  expect(value.known).toBe(4);
});

it("notifies nobody who leaves during a notification, and a newcomer once", () => {
  const value = new WatchedValue("before");
  const reported: string[] = [];
  const going: Disposable[] = [];
  value.watch((one) => {
    reported.push(`first ${one}`);
    if (one !== "now") return;
    going[0]?.[Symbol.dispose]();
    value.watch((late) => reported.push(`late ${late}`));
  });
  going.push(value.watch((one) => reported.push(`going ${one}`)));
  reported.length = 0;
  value.set("now");
  expect(reported).toEqual(["first now", "late now"]);
});

it("is waited for until the others have been told what is wanted, or for a while", async () => {
  vi.useFakeTimers();
  try {
    const value = new WatchedValue<number | undefined>(undefined);
    const reported: number[] = [];
    value.watch((one) => reported.push(one));
    const reached = value.reached((one) => one > 1, 100).then(() => reported.push(0));
    value.set(1);
    await Promise.resolve();
    value.set(2);
    await reached;
    expect(reported).toEqual([1, 2, 0]);
    await value.reached((one) => one === 2, 100);
    expect(vi.getTimerCount()).toBe(0);
    let isOver = false;
    const never = value
      .reached((one) => one > 2, 100)
      .then(() => {
        isOver = true;
      });
    await vi.advanceTimersByTimeAsync(99);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await never;
  } finally {
    vi.useRealTimers();
  }
});
