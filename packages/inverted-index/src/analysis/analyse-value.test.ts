import type { Json } from "@shoal/model";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { indexYielder } from "../index-yielder.js";
import { analyseInSteps, analyseValue } from "./analyse-value.js";
import { type IndexedProperty, indexedProperty } from "./property-kind.js";

function inSteps(property: IndexedProperty, value: Json) {
  const work = analyseInSteps(property, Buffer.from(JSON.stringify(value)), indexYielder());
  let steps = 1;
  let step = work.next();
  for (; step.done !== true; step = work.next()) steps += 1;
  return { steps, analysis: step.value };
}

const digits = (number: number, count: number) => String(number).padStart(count, "0");
const target = (number: number) => ({ beacon: `svc://localhost/00000000-0000-4000-8000-${digits(number, 12)}` });

/** By data type: an element, given a number that is mostly another one. */
const ELEMENTS: readonly (readonly [type: string, element: (number: number, random: SeededRandom) => Json])[] = [
  ["int[]", (number) => number],
  ["number[]", (number) => number / 7],
  ["boolean[]", (_, random) => random.next() < 0.5],
  ["date[]", (number, random) => `2020-01-01T00:00:00.${digits(number, 7)}${random.pick(["Z", "1Z", "+01:00"])}`],
  ["date[]", (number) => `2020-01-01T00:00:${digits(number % 60, 2)}Z`],
  ["text[]", (number) => `w${number}`],
  ["text[]", (number) => `w${number} Two`],
  ["string[]", (number) => `${number}-a`],
  ["string[]", (number, random) => (random.next() < 0.001 ? "x".repeat(300) : `${number} a`)],
  ["Thing", target],
];

describe("the analysis of a long list in steps", () => {
  it.each(ELEMENTS.map(([type, element], at) => ({ at, type, element })))(
    "is that of the whole: $type, $at",
    ({ at, type, element }) => {
      const random = seededRandom(at);
      const property = indexedProperty({ name: "p", dataType: [type] });
      // Different elements, and some twice.
      for (const below of [undefined, 500]) {
        const list = Array.from({ length: 50_000 }, (_, number) =>
          element(below ? random.below(below) : number, random),
        );
        const { steps, analysis } = inSteps(property, list);
        expect(analysis).toEqual(analyseValue(property, list));
        expect(steps).toBeGreaterThanOrEqual(Math.floor(JSON.stringify(list).length / (70 * 1024)));
      }
    },
  );

  it("so is that of a list with long texts, of a long text, and of what is short", () => {
    for (const [type, value] of [
      ["text[]", ["a b".repeat(50_000), "a b"]],
      ["text[]", ["a".repeat(100_000)]],
      ["text", "b a ".repeat(50_000)],
      ["text", "a".repeat(100_000)],
      ["string", `${"a".repeat(100_000)} b`],
      ["blob", "YQ==".repeat(50_000)],
      ["text[]", []],
      ["int[]", [1]],
      ["int", 1],
      ["Thing", [target(1), target(1)]],
    ] as const) {
      const property = indexedProperty({ name: "p", dataType: [type] });
      expect(inSteps(property, value).analysis).toEqual(analyseValue(property, type === "blob" ? true : value));
    }
  });
});
