import type {
  CompareOperator,
  FilterValue,
  Json,
  JsonObject,
  ObjectId,
  PropertyDefinition,
  ShardFilter,
} from "@shoal/model";
import type { SeededRandom } from "@shoal/seeded-random";
import { idOfDocument } from "./index-world.js";

/** A property of every data type, two of some. */
export const WORLD_SCHEMA: readonly PropertyDefinition[] = [
  { name: "text", dataType: ["text"] },
  { name: "string", dataType: ["string"] },
  { name: "texts", dataType: ["text[]"] },
  { name: "strings", dataType: ["string[]"] },
  { name: "int", dataType: ["int"] },
  { name: "ints", dataType: ["int[]"] },
  { name: "number", dataType: ["number"] },
  { name: "numbers", dataType: ["number[]"] },
  { name: "boolean", dataType: ["boolean"] },
  { name: "booleans", dataType: ["boolean[]"] },
  { name: "date", dataType: ["date"] },
  { name: "dates", dataType: ["date[]"] },
  { name: "place", dataType: ["geoCoordinates"] },
  { name: "refs", dataType: ["Thing", "Other"] },
  { name: "hidden", dataType: ["text"], indexInverted: false },
  { name: "phone", dataType: ["phoneNumber"] },
  { name: "blob", dataType: ["blob"] },
];

const LONG = `${"long".repeat(80)}`;
const WORDS = [
  ...[
    "apple",
    "Apple",
    "apple-pie",
    "pie",
    "car",
    "cart",
    "care",
    "a",
    "b",
    "ab",
    "zz",
    "10",
    "9",
    "été",
    "ÉTÉ",
    "straße",
  ],
  ...[
    "ΟΔΟΣ",
    "日本",
    "日本語",
    "\u{1d4d0}\u{1d4d1}",
    "\uff21",
    "e\u0301a",
    "a\0b",
    "\0",
    "x.y@z.org",
    "[.*]",
    "a*b",
    "what?",
  ],
  ...[LONG, `${LONG}1`, `${LONG}2 pie`, "ü".repeat(200)],
];
const SPACES = [" ", " ", "  ", "\t", "\u00a0", "\u2003", "\u0085", ", ", "-"];
const NUMBERS = [0, 1, -1, 2, 3, 10, 1.5, -2.25, 1e9, 1e300, 5e-324, 2 ** 53, -(2 ** 53), 9007199254740994, 4294967296];
const INTS = NUMBERS.filter(Number.isInteger).filter((value) => Math.abs(value) < 1e19);
const DATES = [
  ...[
    "1970-01-01T00:00:00Z",
    "1970-01-01T00:00:00.000000001Z",
    "1969-12-31T23:59:59.999999999Z",
    "2020-02-29T12:00:00Z",
  ],
  ...[
    "2020-02-29T13:00:00+01:00",
    "2020-02-29T12:00:00.0005Z",
    "2020-02-29T12:00:00.000500001Z",
    "0001-01-01T00:00:00Z",
  ],
  ...["9999-12-31T23:59:59.999999999Z", "2021-06-01T00:00:00-11:30", "2020-02-29T12:00:00.001Z"],
];
const PLACES = [0, 0.001, 51.2, 52.4, -33.9, 89.999, -90, 90, 179.9999, -179.9999, 180, 4.9, 6.77, 45];

export function randomText(random: SeededRandom): string {
  if (random.next() < 0.04) return random.pick(["", " ", "?!", "\u00a0"]);
  if (random.next() < 0.4) return random.pick(WORDS);
  return random.list(4, () => random.pick(WORDS) + random.pick(SPACES)).join("");
}

export function randomObject(random: SeededRandom): JsonObject {
  const makers: Readonly<Record<string, () => Json>> = {
    text: () => randomText(random),
    string: () => randomText(random),
    texts: () => random.list(3, () => randomText(random)),
    strings: () => random.list(3, () => randomText(random)),
    int: () => random.pick(INTS),
    ints: () => random.list(3, () => random.pick(INTS)),
    number: () => random.pick(NUMBERS),
    numbers: () => random.list(3, () => random.pick(NUMBERS)),
    boolean: () => random.next() < 0.5,
    booleans: () => random.list(2, () => random.next() < 0.5),
    date: () => random.pick(DATES),
    dates: () => random.list(2, () => random.pick(DATES)),
    place: () => ({ latitude: random.pick(PLACES.filter((at) => Math.abs(at) <= 90)), longitude: random.pick(PLACES) }),
    refs: () => random.list(3, () => ({ beacon: `svc://localhost/${idOfDocument(random.below(40))}` })),
    hidden: () => "secret",
    phone: () => ({ input: "123" }),
    blob: () => "aGFsbG8=",
  };
  const present = Object.entries(makers).filter(() => random.next() < 0.6);
  return Object.fromEntries(present.map(([name, make]) => [name, make()]));
}

const ORDERS = ["GreaterThan", "GreaterThanEqual", "LessThan", "LessThanEqual"] as const;
const COMPARISONS: readonly CompareOperator[] = ["Equal", "NotEqual", ...ORDERS];

export function randomFilter(random: SeededRandom, depth = 3): ShardFilter {
  if (depth > 0 && random.next() < 0.35) {
    const operands = Array.from({ length: 1 + random.below(3) }, () => randomFilter(random, depth - 1));
    return { operator: random.pick(["And", "And", "Or", "Not"]), operands };
  }
  if (random.next() < 0.05) {
    const targets = [...new Set(random.list(6, () => idOfDocument(random.below(50))))].sort() as ObjectId[];
    return { operator: "RefersTo", property: "refs", targets };
  }
  return randomComparison(random);
}

function randomComparison(random: SeededRandom): ShardFilter {
  const indexed = WORLD_SCHEMA.slice(0, 14);
  const special = ["id", "_creationTimeUnix", "_lastUpdateTimeUnix"];
  if (random.next() < 0.06) {
    const any = random.pick([...special, ...WORLD_SCHEMA.map(({ name }) => name).filter((name) => name !== "hidden")]);
    return { operator: "IsNull", property: any, value: { kind: "boolean", values: [random.next() < 0.5] } };
  }
  const property = random.next() < 0.12 ? random.pick(special) : random.pick(indexed).name;
  const type = indexed.find(({ name }) => name === property)?.dataType[0]?.replace("[]", "") ?? property;
  const several = random.next() < 0.1;
  const listed = <Value>(make: () => Value): Value[] =>
    several ? Array.from({ length: 1 + random.below(3) }, make) : [make()];
  const value = randomValue(random, type, listed);
  if (value.kind === "geoRange") return { operator: "WithinGeoRange", property, value };
  if (several) return { operator: random.pick(["ContainsAny", "ContainsAll"]), property, value };
  const isText = value.kind === "text" || value.kind === "string";
  return { operator: isText && random.next() < 0.4 ? "Like" : random.pick(COMPARISONS), property, value };
}

function randomValue(random: SeededRandom, type: string, listed: <Value>(make: () => Value) => Value[]): FilterValue {
  if (type === "id") return { kind: "string", values: listed(() => randomIdText(random)) };
  if (type.startsWith("_")) {
    return random.next() < 0.5
      ? { kind: "int", values: listed(() => 1000 + random.below(20)) }
      : { kind: "date", values: listed(() => BigInt(1000 + random.below(20)) * 1_000_000n + BigInt(random.below(2))) };
  }
  switch (type) {
    case "int":
    case "number":
      return { kind: type, values: listed(() => random.pick(NUMBERS)) };
    case "Thing":
      return { kind: "int", values: listed(() => random.below(4)) };
    case "boolean":
      return { kind: "boolean", values: listed(() => random.next() < 0.5) };
    case "date":
      return { kind: "date", values: listed(() => randomInstant(random)) };
    case "geoCoordinates":
      return { kind: "geoRange", values: [randomRange(random)] };
    default:
      return {
        kind: random.next() < 0.8 && type === "string" ? "string" : "text",
        values: listed(() => randomPattern(random)),
      };
  }
}

function randomInstant(random: SeededRandom): bigint {
  const date = random.pick(DATES);
  const fraction = /\.(\d+)/.exec(date)?.[1] ?? "";
  const milliseconds = BigInt(new Date(date.replace(/\.\d+/, "")).getTime());
  return milliseconds * 1_000_000n + BigInt(fraction.padEnd(9, "0")) + BigInt(random.below(3) - 1);
}

function randomRange(random: SeededRandom) {
  const latitude = random.pick(PLACES.filter((at) => Math.abs(at) <= 90));
  const distanceMax = random.pick([0, 1, 20, 200, 150_000, 250_000.5, 1e6, 9.5e6, 2.1e7]);
  return { latitude, longitude: random.pick(PLACES), distanceMax };
}

function randomIdText(random: SeededRandom): string {
  const id: string = idOfDocument(random.below(400));
  if (random.next() < 0.6) return random.next() < 0.2 ? id.toUpperCase() : id;
  return random.pick([`${id.slice(0, 2)}*`, "*1?", id.slice(0, 9), "", "*", "g", `????????-*${id.slice(-3)}`]);
}

/** With a wildcard it is still a pattern. */
const PATTERN_CHARS_MAX = 1000;

/** A value to compare a text with; for `Like` with wildcards in it. */
function randomPattern(random: SeededRandom): string {
  const text = randomText(random);
  if (random.next() < 0.4 && text.length <= PATTERN_CHARS_MAX) return text;
  const chars = Array.from(text).slice(0, PATTERN_CHARS_MAX);
  const at = random.below(chars.length + 1);
  return random.pick([
    `${chars.slice(0, at).join("")}*`,
    `*${chars.slice(at).join("")}`,
    `${chars.slice(0, at).join("")}?${chars.slice(at + 1).join("")}`,
    `*${chars.slice(at, at + 2).join("")}*`,
    `${chars[0] ?? ""}*?${chars.slice(-1).join("")}`,
    "*",
    "??",
  ]);
}
