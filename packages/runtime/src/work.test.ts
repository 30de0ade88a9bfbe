import { LoopCounter } from "@shoal/runtime/testing/loop-counter";
import { expect, it } from "vitest";
import { runWork, type Work } from "./work.js";
import { Yielder } from "./yielder.js";

function* sum(count: number, yielder: Yielder, onEnd = (): void => {}): Work<number> {
  try {
    let all = 0;
    for (let at = 0; at < count; at++) {
      all += at;
      yielder.count(1);
      if (yielder.isDue) yield yielder.pause();
    }
    return all;
  } finally {
    onEnd();
  }
}

it("has its result at once when it never waits, and yields when it does", async () => {
  expect(runWork(sum(9, new Yielder(10)))).toBe(36);
  using counter = new LoopCounter();
  expect(await runWork(sum(100, new Yielder(10)))).toBe(4_950);
  expect(counter.iterations).toBeGreaterThanOrEqual(10);
});

it("waits for what it yields, and fails with it", async () => {
  const waiting = function* (promise: Promise<unknown>): Work<string> {
    yield promise;
    return "done";
  };
  expect(await runWork(waiting(Promise.resolve()))).toBe("done");
  await expect(runWork(waiting(Promise.reject(new Error("fault"))))).rejects.toThrow("fault");
});

it("cleans up when its signal fires", async () => {
  const gone = new AbortController();
  const ended: string[] = [];
  const result = runWork(
    sum(100, new Yielder(10), () => ended.push("ended")),
    { signal: gone.signal },
  );
  gone.abort(new Error("gone"));
  await expect(result).rejects.toThrow("gone");
  expect(ended).toEqual(["ended"]);
});
