import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { JsonNumber } from "../objects/json-number.js";
import { clauseText } from "./clause-text.js";

const SEED = Number(process.env.MODEL_SEED) || 29;

/** The same text by another way: JSON.stringify of a copy with sorted keys. */
function expectedText(value: unknown): string {
  const sorted = (inner: unknown): unknown => {
    if (typeof inner !== "object" || inner === null) return inner;
    if (Array.isArray(inner)) return inner.map(sorted);
    const entries = Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(entries.map(([name, member]) => [name, sorted(member)]));
  };
  const json = JSON.stringify(sorted(value)).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
  return json.length <= 500 ? json : `${json.slice(0, 500)}…`;
}

it(`is JSON with sorted keys, cut when it is long, seed ${SEED}`, () => {
  const { below, pick } = seededRandom(SEED);
  const anything = (depth: number): unknown => {
    const kind = below(depth === 0 ? 4 : 7);
    if (kind === 0) return pick([true, false, null, undefined]);
    if (kind === 1) return pick([0, 5, -1.5, 1e21, 1e-7, 2 ** 53]);
    if (kind < 4) return pick(["", "a", 'q"\\\n', "<b>&", "\u2028\u2029", "ünï 🐟", "x".repeat(200), "<".repeat(90)]);
    if (kind === 4) return Array.from({ length: below(5) }, () => anything(depth - 1) ?? null);
    const names = ["b", "a", "operator", "path", "valueText", "A", "<"].filter(() => below(2) === 0);
    return Object.fromEntries(names.map((name) => [name, anything(depth - 1)]));
  };
  let cut = 0;
  for (let round = 0; round < 5_000; round++) {
    const clause = { first: anything(4), again: anything(4) };
    const expected = expectedText(clause);
    if (expected.endsWith("…")) cut++;
    expect(clauseText(clause)).toBe(expected);
  }
  expect(cut).toBeGreaterThan(100);
});

it("shows literals of numbers as they were written", () => {
  expect(clauseText({ valueInt: new JsonNumber("9007199254740993"), a: 5n })).toBe(
    '{"a":5,"valueInt":9007199254740993}',
  );
});

it("costs no more than what is shown", () => {
  let read = 0;
  const items = Array.from({ length: 100_000 }, (_, i) => ({
    get value() {
      read++;
      return i;
    },
  }));
  expect(clauseText({ operands: items })).toHaveLength(501);
  expect(read).toBeLessThan(200);
});
