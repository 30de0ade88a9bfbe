import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { IN_FLIGHT_MAX, InFlight } from "./in-flight.js";

it("does what a Map with ever new numbers does", () => {
  const { below } = seededRandom(1);
  const inFlight = new InFlight<{ readonly name: number }>();
  const oracle = new Map<number, { readonly name: number }>();
  const gone: number[] = [];
  for (let step = 0; step < 20_000; step++) {
    // Grows and shrinks in steps.
    if (below(100) < (step % 4_000 < 2_000 ? 60 : 40)) {
      const item = { name: step };
      const number = inFlight.add(item);
      expect(oracle.has(number)).toBe(false);
      expect(number).toBeGreaterThan(0);
      expect(number).toBeLessThan(2 ** 31);
      oracle.set(number, item);
    } else {
      const number = [...oracle.keys()][below(oracle.size)] ?? 7;
      expect(inFlight.remove(number)).toBe(oracle.delete(number));
      gone.push(number);
    }
    const looked = [...oracle.keys()][below(oracle.size)] ?? 1;
    expect(inFlight.get(looked)).toBe(oracle.get(looked));
    const late = gone[gone.length - 1 - below(Math.min(gone.length, 100))] ?? 0;
    expect(inFlight.get(late)).toBe(oracle.get(late));
    expect(inFlight.size).toBe(oracle.size);
  }
  expect(new Map(inFlight)).toEqual(oracle);
  inFlight.clear();
  expect([inFlight.size, [...inFlight]]).toEqual([0, []]);
});

it("knows nothing of a number that was removed, until two million others were given", () => {
  const inFlight = new InFlight<object>();
  const first = inFlight.add({});
  inFlight.remove(first);
  const item = {};
  let others = 0;
  for (let number = inFlight.add(item); number !== first; number = inFlight.add(item)) {
    if (inFlight.remove(first) || !inFlight.remove(number)) expect.fail(`after ${others} others`);
    others++;
  }
  expect(others).toBeGreaterThan(2_000_000);
});

it("lets items be removed while it is gone through", () => {
  const inFlight = new InFlight<{ readonly name: string }>();
  const numbers = ["a", "b", "c", "d"].map((name) => inFlight.add({ name }));
  const met: string[] = [];
  for (const [number, { name }] of inFlight) {
    met.push(name);
    inFlight.remove(number);
    if (name === "b") inFlight.remove(numbers[2] ?? 0);
  }
  expect(met).toEqual(["a", "b", "d"]);
  expect(inFlight.size).toBe(0);
});

it("refuses more than there are places", () => {
  const inFlight = new InFlight<object>();
  const item = {};
  for (let count = 0; count < IN_FLIGHT_MAX; count++) inFlight.add(item);
  expect(() => inFlight.add(item)).toThrow(`${IN_FLIGHT_MAX} are under way`);
});
