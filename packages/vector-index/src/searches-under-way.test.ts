import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { SearchesUnderWay } from "./searches-under-way.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("passes answers and errors on, without asking for a signal", async () => {
  const underWay = new SearchesUnderWay();
  const waiting = {
    get signal(): AbortSignal {
      throw new Error("not asked for");
    },
  };
  const cancel = vi.fn();
  expect(await underWay.wait(Promise.resolve(5), waiting, cancel)).toBe(5);
  await expect(underWay.wait(Promise.reject(new Error("broken")), waiting, cancel)).rejects.toThrow("broken");
  await vi.advanceTimersByTimeAsync(100);
  expect(cancel).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});

it("gives up a search whose signal has fired, once, and not those beside it", async () => {
  const underWay = new SearchesUnderWay();
  const controller = new AbortController();
  const cancel = vi.fn();
  const never = new Promise<number>(() => {});
  const given = underWay.wait(never, controller, cancel);
  let result = (_: number): void => {};
  const other = underWay.wait(new Promise<number>((resolve) => (result = resolve)), {}, cancel);
  const reason = new Error("too slow");
  const failed = expect(given).rejects.toBe(reason);
  controller.abort(reason);
  await vi.advanceTimersByTimeAsync(1000);
  await failed;
  expect(cancel).toHaveBeenCalledOnce();
  result(7);
  expect(await other).toBe(7);
  await vi.advanceTimersByTimeAsync(1000);
  expect(vi.getTimerCount()).toBe(0);
});

it("asks for the signal of a search that is still under way at the second look", async () => {
  const underWay = new SearchesUnderWay();
  let asked = 0;
  const waiting = {
    get signal(): AbortSignal {
      asked++;
      return AbortSignal.abort("gone");
    },
  };
  const failed = expect(underWay.wait(new Promise(() => undefined), waiting, () => undefined)).rejects.toBe("gone");
  await vi.advanceTimersToNextTimerAsync();
  expect(asked).toBe(0);
  await vi.advanceTimersToNextTimerAsync();
  expect(asked).toBe(1);
  await failed;
});
