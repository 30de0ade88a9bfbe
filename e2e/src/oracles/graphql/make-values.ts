import type { SeededRandom } from "@shoal/seeded-random";

const WORDS = [
  ...["apple", "Apple", "APPLE", "app", "banana", "bananas", "car", "Car", "cat", "Größe", "größe", "Ünïcode", "x1"],
  ...[
    "日本",
    "日本語",
    "Ёлка",
    "ёж",
    "e\u0301a",
    "naïve",
    "a",
    "b",
    "42",
    "007",
    "word",
    "words",
    "sword",
    "𝒜b",
    "ab𝄞c",
  ],
];
const JOINTS = [
  " ",
  " ",
  " ",
  "  ",
  "-",
  ", ",
  ".",
  "_",
  "\u00a0",
  "\u2003",
  "\t",
  "\n",
  "/",
  "'",
  '"',
  "\\",
  "*",
  "?",
];
const ODD_TEXTS = [
  "",
  " ",
  "?!",
  "...",
  "a@b.example",
  "50%",
  "*",
  "(x",
  "[a-z]+",
  "$",
  "^a",
  "\u0085a",
  "\ufeffb",
  "𝄞",
];

const DATES = [
  ...[
    "2020-01-01T00:00:00Z",
    "2020-01-01T01:00:00+01:00",
    "2019-12-31T23:59:59.999999999Z",
    "2020-01-01T00:00:00.000000001Z",
  ],
  ...["2020-01-01T00:00:00.120+02:00", "1969-12-31T23:59:59.5Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"],
  ...["2021-06-15T12:30:00-11:30", "2021-06-16T00:00:00Z", "1970-01-01T00:00:00Z"],
];

const INTS = [
  0,
  1,
  -1,
  2,
  3,
  5,
  7,
  10,
  42,
  -42,
  100,
  1_000_000,
  2 ** 31,
  3_000_000_000,
  -3_000_000_000,
  2 ** 53,
  -(2 ** 53),
];
const NUMBERS = [0, 0.5, -0.5, 1, 1.5, 2, 2.5, -1.25, 0.1, 0.2, 0.3, 1e-7, 1e6, 1234567.5, 1e15, -1e15, Math.PI, 1e21];

/** Poles, the antimeridian from both sides, one place twice, towns. */
const PLACES = [
  ...[
    [90, 0],
    [90, 120],
    [-90, 0],
    [0, 180],
    [0, -180],
    [0.001, 179.999],
    [-0.001, -179.999],
    [0, 0],
  ],
  ...[
    [51.225556, 6.782778],
    [52.366667, 4.9],
    [51.225556, 6.782778],
    [-33.86785, 151.20732],
    [40.71427, -74.00597],
  ],
] as const;

const PHONES = ["+31 20 1234567", "+49 171 1112223"];

export function randomText(chance: SeededRandom): string {
  if (chance.oneIn(12)) return chance.pick(ODD_TEXTS);
  const [first = "", ...others] = Array.from({ length: 1 + chance.below(4) }, () => chance.pick(WORDS));
  return others.reduce((text, word) => text + chance.pick(JOINTS) + word, first);
}

export function randomPlace(chance: SeededRandom): { readonly latitude: number; readonly longitude: number } {
  const [latitude = 0, longitude = 0] = chance.oneIn(3)
    ? [chance.next() * 180 - 90, chance.next() * 360 - 180]
    : chance.pick(PLACES);
  return { latitude, longitude };
}

/** A value of a primitive data type; the same ones come often. */
export function randomValue(dataType: string, chance: SeededRandom): unknown {
  if (dataType.endsWith("[]")) return chance.list(4, () => randomValue(dataType.slice(0, -2), chance));
  switch (dataType) {
    case "string":
    case "text":
      return randomText(chance);
    case "int":
      return chance.oneIn(3) ? chance.below(20) - 10 : chance.pick(INTS);
    case "number":
      return chance.oneIn(3) ? (chance.below(2_000) - 1_000) / 8 : chance.pick(NUMBERS);
    case "boolean":
      return chance.oneIn(2);
    case "date":
      return chance.pick(DATES);
    case "geoCoordinates":
      return randomPlace(chance);
    case "phoneNumber":
      return { input: chance.pick(PHONES) };
    case "blob":
      return Buffer.from(`bytes ${chance.below(5)}`).toString("base64");
    default:
      throw new Error(`no values of ${dataType}`);
  }
}

/** Never zero; now and then one of a few, so that some are the same. */
export function vectorOf(dimensions: number, chance: SeededRandom): readonly number[] {
  if (chance.oneIn(6)) {
    const axis = chance.below(dimensions);
    return Array.from({ length: dimensions }, (_, at) => (at === axis ? 1 : 0));
  }
  return Array.from({ length: dimensions }, () => Math.fround(chance.next() * 2 - 1.0001));
}
