import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { type HistoryStep, linearOrder } from "./linear-order.js";

type Register = number;

function write(askedMs: number, answeredMs: number, value: number): HistoryStep<Register> {
  return { name: `write ${value}`, askedMs, answeredMs, apply: () => value };
}

function read(askedMs: number, answeredMs: number, value: number): HistoryStep<Register> {
  const apply = (state: Register): Register | undefined => (state === value ? state : undefined);
  return { name: `read ${value}`, askedMs, answeredMs, apply };
}

const named = (steps: readonly HistoryStep<Register>[]) => linearOrder(steps, 0, String)?.map(({ name }) => name);

it("finds the order of what overlaps", () => {
  expect(named([write(0, 10, 1), read(2, 3, 0), read(4, 5, 1)])).toEqual(["read 0", "write 1", "read 1"]);
  expect(named([])).toEqual([]);
});

it("finds none when an old value is read after a newer one", () => {
  expect(named([write(0, 10, 1), read(2, 3, 1), read(4, 5, 0)])).toBeUndefined();
  expect(named([write(0, 1, 1), read(2, 3, 0)])).toBeUndefined();
});

it("lets what has no answer happen late or never", () => {
  const lost = write(0, Number.POSITIVE_INFINITY, 1);
  expect(named([lost, read(2, 3, 0)])).toEqual(["read 0"]);
  expect(named([lost, read(2, 3, 0), read(4, 5, 1)])).toEqual(["read 0", "write 1", "read 1"]);
  expect(named([lost, read(2, 3, 1), read(4, 5, 0)])).toBeUndefined();
});

it("judges random histories as a try of every order does", () => {
  const chance = seededRandom(1);
  const verdicts = { linear: 0, not: 0 };
  for (let round = 0; round < 500; round++) {
    const steps = Array.from({ length: 1 + chance.below(5) }, () => {
      const askedMs = chance.below(20);
      const answeredMs = askedMs + 1 + chance.below(10);
      return (chance.oneIn(2) ? write : read)(askedMs, answeredMs, chance.below(3));
    });
    const found = linearOrder(steps, 0, String);
    expect(found !== undefined, JSON.stringify(steps)).toBe(orders(steps).some(explains));
    if (found !== undefined) expect(explains(found)).toBe(true);
    verdicts[found === undefined ? "not" : "linear"] += 1;
  }
  expect(Math.min(verdicts.linear, verdicts.not)).toBeGreaterThan(50);
});

function orders<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length === 0) return [[]];
  return items.flatMap((first, at) => orders(items.toSpliced(at, 1)).map((rest) => [first, ...rest]));
}

function explains(order: readonly HistoryStep<Register>[]): boolean {
  const inTime = order.every((step, at) => order.slice(at + 1).every((later) => step.askedMs <= later.answeredMs));
  let state: Register | undefined = 0;
  for (const step of order) state = state === undefined ? undefined : step.apply(state);
  return inTime && state !== undefined;
}
