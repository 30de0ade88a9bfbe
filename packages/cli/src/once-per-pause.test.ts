import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { oncePerPause } from "./once-per-pause.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("calls once for all calls of a pause, and again after it", () => {
  let acts = 0;
  const call = oncePerPause(() => acts++, 1_000);
  call();
  vi.advanceTimersByTime(600);
  call();
  expect(acts).toBe(0);
  vi.advanceTimersByTime(400);
  expect(acts).toBe(1);
  vi.advanceTimersByTime(5_000);
  expect(acts).toBe(1);
  call();
  vi.advanceTimersByTime(1_000);
  expect(acts).toBe(2);
});
