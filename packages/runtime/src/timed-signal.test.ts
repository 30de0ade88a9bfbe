import { getEventListeners } from "node:events";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { TimedSignal } from "./timed-signal.js";

const late = (): Error => new Error("late");

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("fires when time is over, at once where it was before", () => {
  using call = new TimedSignal({ deadline: 1_500 }, 1_000, late);
  using over = new TimedSignal({ deadline: 900 }, 1_000, late);
  const { signal } = call;
  vi.advanceTimersByTime(499);
  expect([signal.aborted, over.isAborted]).toEqual([false, true]);
  vi.advanceTimersByTime(1);
  expect(signal.reason).toEqual(late());
});

it("fires when the caller has gone away, and leaves nothing behind", () => {
  const caller = new AbortController();
  const { signal: outer } = caller;
  const ended = new TimedSignal({ deadline: Number.POSITIVE_INFINITY, signal: outer }, 0, late);
  expect(ended.signal.aborted).toBe(false);
  ended[Symbol.dispose]();
  expect([getEventListeners(outer, "abort").length, vi.getTimerCount()]).toEqual([0, 0]);
  using call = new TimedSignal({ deadline: 10, signal: outer }, 0, late);
  const { signal } = call;
  caller.abort("gone");
  vi.advanceTimersByTime(10);
  expect(signal.reason).toBe("gone");
});
