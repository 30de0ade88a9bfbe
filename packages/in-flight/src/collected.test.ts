import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { InFlight } from "./in-flight.js";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as (options: { readonly type: "minor" | "major" }) => void;

/** Items of some kilobytes that are there at once. */
const AT_ONCE = 16;

/** Bytes that young collections alone have not freed after 40 MB of items came and went, the oldest first. */
function heldBytes(add: (item: object) => number, remove: (number: number) => void): number {
  gc({ type: "major" });
  const before = process.memoryUsage().heapUsed;
  const numbers: number[] = new Array(AT_ONCE).fill(-1);
  for (let count = 0; count < 10_000; count++) {
    remove(numbers[count % AT_ONCE] ?? -1);
    numbers[count % AT_ONCE] = add({ payload: new Array(500).fill(count) });
    if (count % 300 === 0) gc({ type: "minor" });
  }
  gc({ type: "minor" });
  return process.memoryUsage().heapUsed - before;
}

it("lets go of what is removed, as no Map does that items come and go in", () => {
  const inFlight = new InFlight<object>();
  const inPlaces = heldBytes(
    (item) => inFlight.add(item),
    (number) => inFlight.remove(number),
  );
  const map = new Map<number, object>();
  let next = 0;
  const add = (item: object): number => {
    map.set(next, item);
    return next++;
  };
  const inMap = heldBytes(add, (number) => map.delete(number));
  expect(inPlaces).toBeLessThan(2e6);
  expect(inMap).toBeGreaterThan(4e6);
});
