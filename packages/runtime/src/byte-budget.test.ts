import { expect, it } from "vitest";
import { ByteBudget } from "./byte-budget.js";

const budgetOf = (max: number, parent?: ByteBudget, mayGoAlone = false): ByteBudget =>
  new ByteBudget({ max, parent, mayGoAlone, fullError: () => new Error(`more than ${max}`) });

it("holds up to its most, and only what all above have room for", () => {
  const all = budgetOf(100);
  const [one, other] = [budgetOf(60, all), budgetOf(60, all)];
  one.add(60);
  expect(() => one.add(1)).toThrow("more than 60");
  expect(() => other.add(41)).toThrow("more than 100");
  other.add(40);
  expect([one.held, other.held, all.held]).toEqual([60, 40, 100]);
  one.add(-20);
  other.add(20);
  expect([one.held, other.held, all.held]).toEqual([40, 60, 100]);
});

it("gives everything back when it is closed, once, and holds nothing any more", () => {
  const all = budgetOf(100);
  const one = budgetOf(60, all);
  one.add(50);
  one.close();
  one.close();
  one.add(-50);
  expect(() => one.add(1)).toThrow("more than 60");
  expect([one.held, all.held, one.isClosed]).toEqual([0, 0, true]);
});

it("keeps what is passed on", () => {
  const reported: unknown[] = [];
  const parent = { add: (bytes: number, kind?: string) => void reported.push([bytes, kind]) };
  const one = new ByteBudget({ max: 100, parent, kind: "aggregation", fullError: () => new Error("full") });
  one.add(70);
  one.close(30);
  one.close();
  expect(reported).toEqual([
    [70, "aggregation"],
    [-40, "aggregation"],
  ]);
});

it("lets what is larger than everything be held alone, where it may", () => {
  const all = budgetOf(100, undefined, true);
  const [large, small] = [budgetOf(1_000, all), budgetOf(1_000, all)];
  large.add(500);
  expect(() => small.add(1)).toThrow("more than 100");
  expect(() => large.add(1)).toThrow("more than 100");
  large.close();
  small.add(1);
  expect(() => large.add(0)).not.toThrow();
  expect(all.held).toBe(1);
});
