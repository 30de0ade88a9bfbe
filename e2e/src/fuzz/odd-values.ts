import type { SeededRandom } from "@shoal/seeded-random";

/** Stands in a value for a text that JSON.stringify would not write; see `writeOdd`. */
const RAW = "\u0001raw:";

const ODD_TEXTS = [
  ...["", " ", "\u0000", "\ud800", "\udfff\ud800", "ﷺ".repeat(50), "a".repeat(70_000), "%00", "../../../etc/passwd"],
  ...["__proto__", "constructor", "toString", "hasOwnProperty", "null", "NaN", "{}", "[]", "'\"\\`$x", "\r\nX: y"],
  ...["00000000-0000-0000-0000-000000000000", "weaviate://localhost/", "weaviate://other/x", "Fuzz A", "fuzzA", "Ünï"],
  ...["2024-13-45T99:99:99Z", "9".repeat(400), "{Get{", "text[]", "FuzzA", "_id", "𝄞".repeat(300)],
];

/** Literals of numbers, some of which only a text can say. */
const ODD_NUMBERS = [
  ...["0", "-0", "-1", "1.0", "1e2", "1e39", "-1e39", "1e308", "1e309", "-1e999", "5e-324", "1e-999"],
  ...["9007199254740993", "9223372036854775807", "9223372036854775808", "-9223372036854775809"],
  ...[`1${"0".repeat(400)}`, "0.1234567890123456789012345", "2147483648", "65536", "1025"],
];

const ODD_KEYS = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "",
  "a.b",
  "\u0000",
  "$ref",
  "CLASS",
  "x".repeat(5_000),
];

/** What copies of an item may add to a value: more than any request has. */
const COPIED_CHARS_MAX = 16 * 1024 * 1024;

/** A value that is of another kind than what stands there. */
export function oddValue(chance: SeededRandom): unknown {
  switch (chance.below(9)) {
    case 0:
      return null;
    case 1:
      return chance.oneIn(2);
    case 2:
    case 3:
      return RAW + chance.pick(ODD_NUMBERS);
    case 4:
    case 5:
      return chance.pick(ODD_TEXTS);
    case 6:
      return chance.pick<unknown>([
        [],
        {},
        [null],
        [[]],
        [{}],
        { __proto: null },
        [1, "a", null, {}],
        new Array(500).fill(0),
      ]);
    case 7:
      return RAW + nested(chance);
    default:
      return { [chance.pick(ODD_KEYS)]: chance.pick(ODD_TEXTS), beacon: chance.pick<unknown>([1, "x", null]) };
  }
}

function nested(chance: SeededRandom): string {
  const depth = chance.pick([50, 150, 199, 201, 5_000, 60_000]);
  const [open, close] = chance.pick([
    ["[", "]"],
    ['{"a":', "}"],
    ['[{"properties":', "}]"],
  ] as const);
  return open.repeat(depth) + (chance.oneIn(3) ? "" : `1${close.repeat(depth)}`);
}

/** A copy in which a few members are odd, gone, renamed or new. */
export function withOddMembers(value: unknown, chance: SeededRandom): unknown {
  let copy: unknown = structuredClone(value);
  for (let round = 1 + chance.below(3); round > 0; round--) {
    const places: { holder: Record<string, unknown> | unknown[]; key: string | number }[] = [];
    collect(copy, places);
    if (places.length === 0 || chance.oneIn(15)) {
      copy = oddValue(chance);
      continue;
    }
    const { holder, key } = chance.pick(places);
    if (Array.isArray(holder)) changeItem(holder, Number(key), chance);
    else changeMember(holder, String(key), chance);
  }
  return copy;
}

function changeItem(list: unknown[], at: number, chance: SeededRandom): void {
  const kind = chance.below(6);
  if (kind === 0) list.splice(at, 1);
  else if (kind === 1) list.push(...copies(list[at], chance.pick([1, 3, 400])));
  else list[at] = oddValue(chance);
}

/**
 * So many copies, or as many as may be written: copies of lists of copies would soon be longer than a string can be. Each is
 * one of its own: what is added to one is not added to all.
 */
function copies(item: unknown, count: number): unknown[] {
  const most = Math.floor(COPIED_CHARS_MAX / writeOdd(item).length);
  return Array.from({ length: Math.min(count, most) }, () => structuredClone(item));
}

function changeMember(object: Record<string, unknown>, key: string, chance: SeededRandom): void {
  const value = object[key];
  const kind = chance.below(8);
  if (kind === 0) delete object[key];
  else if (kind === 1) {
    delete object[key];
    put(object, chance.pick([key.toUpperCase(), key.toLowerCase(), ` ${key}`, `${key}.x`, ...ODD_KEYS]), value);
  } else if (kind === 2) put(object, chance.pick(ODD_KEYS), oddValue(chance));
  else if (kind === 3) put(object, key.toUpperCase(), oddValue(chance));
  else object[key] = oddValue(chance);
}

/** Sets a member of any name: an assignment to `__proto__` would not make one. */
function put(object: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

function collect(value: unknown, into: { holder: Record<string, unknown> | unknown[]; key: string | number }[]): void {
  if (typeof value !== "object" || value === null) return;
  const keys = Array.isArray(value) ? value.slice(0, 20).map((_, at) => at) : Object.keys(value);
  for (const key of keys) {
    into.push({ holder: value as Record<string, unknown>, key });
    collect((value as Record<string | number, unknown>)[key], into);
  }
}

/** The value as JSON, with what only a text can say. */
export function writeOdd(value: unknown): string {
  return (JSON.stringify(value) ?? "null").replaceAll(/"\\u0001raw:((?:[^"\\]|\\.)*)"/g, (_, escaped: string) =>
    String(JSON.parse(`"${escaped}"`)),
  );
}

const INSERTED = ['"', "{", "}", "[", "]", ",", ":", "\\", "\u0000", "nul", "1e", "-", "\\u", " ", "\ufeff", "//", "'"];

/** The text as bytes with a damage that JSON parsers must notice, or must not mind. */
export function damaged(text: string, chance: SeededRandom): Buffer {
  const at = chance.below(text.length + 1);
  switch (chance.below(8)) {
    case 0:
      return Buffer.from(text.slice(0, at));
    case 1:
      return Buffer.from(text.slice(0, at) + chance.pick(INSERTED) + text.slice(at));
    case 2:
      return Buffer.from(text.slice(0, at) + text.slice(at + 1 + chance.below(5)));
    case 3:
      return Buffer.concat([
        Buffer.from(text.slice(0, at)),
        Buffer.from([0xff, 0xc0, 0x80]),
        Buffer.from(text.slice(at)),
      ]);
    case 4:
      return Buffer.from(`\ufeff${text}`);
    case 5:
      return Buffer.from(`${text}${chance.pick([text, "}", "garbage", "\n\n", "\u0000"])}`);
    case 6:
      return Buffer.from(
        text.replace(/^\{("[^"]*"):/, (_, key: string) => `{${key}:${chance.pick(["1", "null", '"x"', "{}"])},${key}:`),
      );
    default:
      return Buffer.from(text, "utf16le");
  }
}
