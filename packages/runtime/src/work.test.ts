import { TurnCounter } from "@shoal/turn-counter";
import { expect, it } from "vitest";
import { runWork, type Work } from "./work.js";
import { WorkTurns } from "./work-turns.js";

function* sum(count: number, turns: WorkTurns, onEnd = (): void => {}): Work<number> {
  try {
    let all = 0;
    for (let at = 0; at < count; at++) {
      all += at;
      turns.count(1);
      if (turns.isOver) yield turns.pause();
    }
    return all;
  } finally {
    onEnd();
  }
}

it("has its result at once when it never waits, and gives others their turn when it does", async () => {
  expect(runWork(sum(9, new WorkTurns(10)))).toBe(36);
  using counter = new TurnCounter();
  expect(await runWork(sum(100, new WorkTurns(10)))).toBe(4_950);
  expect(counter.turns).toBeGreaterThanOrEqual(10);
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
    sum(100, new WorkTurns(10), () => ended.push("ended")),
    { signal: gone.signal },
  );
  gone.abort(new Error("gone"));
  await expect(result).rejects.toThrow("gone");
  expect(ended).toEqual(["ended"]);
});
