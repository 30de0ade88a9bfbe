import { expect, test } from "vitest";
import { ResultQueue } from "./aggregate-class.js";

const resultOf = () => ({ deadline: Number.POSITIVE_INFINITY, rowBytes: { add: () => {} } });

test("aggregations of one answer come one after another, whatever comes of them; other answers do not wait", async () => {
  const queue = new ResultQueue();
  const [one, other] = [resultOf(), resultOf()];
  const order: string[] = [];
  let running = 0;
  let mostRunning = 0;
  const work = (name: string) => async () => {
    order.push(name);
    mostRunning = Math.max(mostRunning, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
    if (name === "b") throw new Error("b fails");
    return name;
  };
  const results = ["a", "b", "c", "d"].map((name) => queue.run({ ...one }, work(name)));
  expect(order).toEqual(["a"]);
  const settled = await Promise.allSettled(results);
  expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
  expect(order).toEqual(["a", "b", "c", "d"]);
  expect(mostRunning).toBe(1);
  await Promise.all([queue.run(one, work("e")), queue.run(other, work("f"))]);
  await Promise.all([queue.run({ deadline: 0 }, work("g")), queue.run({ deadline: 0 }, work("h"))]);
  expect(mostRunning).toBe(2);
  const third = resultOf();
  const stop = new AbortController();
  const first = queue.run({ ...third, signal: stop.signal }, work("i"));
  const second = queue.run({ ...third, signal: stop.signal }, work("j"));
  stop.abort(new Error("gone"));
  const outcomes = await Promise.allSettled([first, second]);
  expect(outcomes).toMatchObject([{ value: "i" }, { reason: { message: "gone" } }]);
  expect(order.at(-1)).toBe("i");
});
