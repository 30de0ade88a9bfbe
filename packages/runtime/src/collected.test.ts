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

// A Map in its place holds some 16 MB here, by chance also less: a full collection may come before the end.
it("lets go of what is removed without a full collection", () => {
  const inFlight = new InFlight<object>();
  const inPlaces = heldBytes(
    (item) => inFlight.add(item),
    (number) => inFlight.remove(number),
  );
  expect(inPlaces).toBeLessThan(2e6);
});
