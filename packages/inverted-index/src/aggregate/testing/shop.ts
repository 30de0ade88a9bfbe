// Properties of every data type and objects that are hard on an index of them.

import type { AggregatedProperty, Json, PropertyDefinition } from "@shoal/model";
import type { SeededRandom } from "@shoal/seeded-random";
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

export function randomObject(random: SeededRandom): PlainObject {
  const beacon = () => ({ beacon: `svc://localhost/00000000-0000-0000-0000-00000000000${random.below(4)}` });
  const makers: Readonly<Record<string, () => Json>> = {
    category: () => `c${random.below(4)}`,
    name: () => random.pick(TEXTS),
    story: () => random.pick(TEXTS),
    tags: () => random.list(3, () => random.pick(TEXTS)),
    words: () => random.list(3, () => random.pick(TEXTS)),
    age: () => random.below(9) - 4,
    price: () => (random.next() < 0.3 ? Math.round(random.next() * 1000) / 100 : random.pick(NUMBERS)),
    ages: () => random.list(3, () => random.below(5) - 2),
    marks: () => random.list(3, () => random.pick(NUMBERS)),
    isOpen: () => random.next() < 0.5,
    flags: () => random.list(3, () => random.next() < 0.5),
    born: () => random.pick(DATES),
    days: () => random.list(3, () => random.pick(WRITTEN_DATES)),
    photo: () => random.pick(["AAAA", "BBBB"]),
    owner: () => random.list(3, beacon),
    noteAside: () => random.pick(TEXTS),
    storyAside: () => random.pick(TEXTS),
    priceAside: () => random.pick(NUMBERS),
    agesAside: () => random.list(3, () => random.below(5) - 2),
    isOpenAside: () => random.next() < 0.5,
    flagsAside: () => random.list(3, () => random.next() < 0.5),
    bornAside: () => random.pick(DATES),
    daysAside: () => random.list(3, () => random.pick(WRITTEN_DATES)),
  };
  const names = Object.keys(makers).sort();
  return Object.fromEntries(names.filter(() => random.next() < 0.7).map((name) => [name, makers[name]?.() ?? null]));
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
