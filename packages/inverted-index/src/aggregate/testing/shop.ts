// Properties of every data type and objects that are hard on an index of them.

import type { AggregatedProperty, Json, PropertyDefinition } from "@shoal/model";
import { Seeded } from "../../testing/seeded.js";
import type { PlainObject } from "./aggregate-world.js";

export const PROPERTIES: readonly PropertyDefinition[] = [
  ["category", "string"],
  ["name", "string"],
  ["story", "text"],
  ["tags", "string[]"],
  ["words", "text[]"],
  ["age", "int"],
  ["price", "number"],
  ["ages", "int[]"],
  ["marks", "number[]"],
  ["isOpen", "boolean"],
  ["flags", "boolean[]"],
  ["born", "date"],
  ["days", "date[]"],
  ["photo", "blob"],
  ["owner", "Person"],
].map(([name = "", dataType = ""]) => ({ name, dataType: [dataType] }));

/** What the index does not have. */
export const UNINDEXED: readonly PropertyDefinition[] = [
  ["note", "string"],
  ["story", "text"],
  ["price", "number"],
  ["ages", "int[]"],
  ["isOpen", "boolean"],
  ["flags", "boolean[]"],
  ["born", "date"],
  ["days", "date[]"],
].map(([name, dataType = ""]) => ({ name: `${name}Aside`, dataType: [dataType], indexInverted: false }));

const LONG = "long ".repeat(60);
const TEXTS = [
  "",
  "a",
  "b",
  "B",
  "a b",
  "B a",
  "é",
  "\u{e000}",
  "\u{1f600}",
  "?!",
  "zwei Wörter",
  "\ud800",
  "nul\u0000",
  "x".repeat(300),
  LONG,
  `${LONG}!`,
];
const NUMBERS = [
  ...[0, 1, -1, 2.5, 0.1, 0.2, 0.3, 1e6, -1e6, 1e308, -1e308, 1.7e308, 5e-324, -5e-324, 1e-5],
  ...[2 ** 53, 2 ** 53 + 2, -(2 ** 53), 2 ** 63],
];
const DATES = [
  "2020-01-01T00:00:00Z",
  "2020-01-01T01:00:00+01:00",
  "2019-12-31T23:30:00-00:30",
  "2020-01-01T00:00:00.000000001Z",
  "2020-01-01T01:00:00.000000001+01:00",
  "1969-12-31T23:59:59.999999999Z",
  "1969-12-31T23:59:59.9Z",
  "0000-01-01T00:00:00+02:00",
  "0000-01-01T00:00:00Z",
  "9999-12-31T23:59:59.5Z",
];
/** Lists keep dates as they were written. */
const WRITTEN_DATES = [...DATES, "2020-01-01T00:00:00.000Z", "2020-01-01T00:00:00+00:00", "1969-12-31T23:59:59.900Z"];

/** Fractions from 0 up to 1, the same ones for the same seed. */
export function fractions(seed: number): () => number {
  const seeded = new Seeded(seed);
  return () => seeded.below(2 ** 30) / 2 ** 30;
}

export function randomObject(next: () => number): PlainObject {
  const pick = <T extends Json>(values: readonly T[]): Json => values[Math.floor(next() * values.length)] ?? null;
  const list = (one: () => Json): Json => Array.from({ length: Math.floor(next() * 4) }, one);
  const beacon = () => ({ beacon: `svc://localhost/00000000-0000-0000-0000-00000000000${Math.floor(next() * 4)}` });
  const makers: Readonly<Record<string, () => Json>> = {
    category: () => `c${Math.floor(next() * 4)}`,
    name: () => pick(TEXTS),
    story: () => pick(TEXTS),
    tags: () => list(() => pick(TEXTS)),
    words: () => list(() => pick(TEXTS)),
    age: () => Math.floor(next() * 9) - 4,
    price: () => (next() < 0.3 ? Math.round(next() * 1000) / 100 : pick(NUMBERS)),
    ages: () => list(() => Math.floor(next() * 5) - 2),
    marks: () => list(() => pick(NUMBERS)),
    isOpen: () => next() < 0.5,
    flags: () => list(() => next() < 0.5),
    born: () => pick(DATES),
    days: () => list(() => pick(WRITTEN_DATES)),
    photo: () => pick(["AAAA", "BBBB"]),
    owner: () => list(beacon),
    noteAside: () => pick(TEXTS),
    storyAside: () => pick(TEXTS),
    priceAside: () => pick(NUMBERS),
    agesAside: () => list(() => Math.floor(next() * 5) - 2),
    isOpenAside: () => next() < 0.5,
    flagsAside: () => list(() => next() < 0.5),
    bornAside: () => pick(DATES),
    daysAside: () => list(() => pick(WRITTEN_DATES)),
  };
  const names = Object.keys(makers).sort();
  return Object.fromEntries(names.filter(() => next() < 0.7).map((name) => [name, makers[name]?.() ?? null]));
}

export function allOf({ name, dataType }: PropertyDefinition, topOccurrences: number): AggregatedProperty {
  const element = dataType[0]?.replace("[]", "") ?? "";
  const isNumber = element === "int" || element === "number";
  return {
    name,
    numbers: isNumber,
    distribution: isNumber && topOccurrences > 1,
    topOccurrences: ["string", "text", "blob"].includes(element) ? topOccurrences : undefined,
    dates: element === "date",
    booleans: element === "boolean",
  };
}
