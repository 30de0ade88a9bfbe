/** Matchers that stand alone. */
const PLAIN: Readonly<Record<string, (got: unknown) => boolean>> = {
  any: (got) => got !== undefined,
  absent: (got) => got === undefined,
  string: (got) => typeof got === "string",
  number: (got) => typeof got === "number",
  boolean: (got) => typeof got === "boolean",
  list: (got) => Array.isArray(got),
  object: (got) => typeof got === "object" && got !== null && !Array.isArray(got),
  uuid: (got) => typeof got === "string" && /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(got),
  // A whole number of milliseconds, a minute around now: seconds, microseconds and the zero time are none.
  time: (got) => Number.isInteger(got) && Math.abs((got as number) - Date.now()) < 60_000,
};

/** Matchers with an argument. */
const WITH_ARGUMENT: Readonly<Record<string, (got: unknown, argument: string) => boolean>> = {
  is: (got, argument) => got === argument,
  contains: (got, argument) => typeof got === "string" && got.includes(argument),
  matches: (got, argument) => typeof got === "string" && new RegExp(argument, "s").test(got),
  near: (got, argument) => typeof got === "number" && Math.abs(got - Number(argument)) < 1e-6,
  "at least": (got, argument) => typeof got === "number" && got >= Number(argument),
  above: (got, argument) => typeof got === "number" && got > Number(argument),
  length: (got, argument) => (Array.isArray(got) || typeof got === "string") && got.length === Number(argument),
};

/** The rest of an object's members or of a list's elements: whatever they are. */
const OTHERS = "<others>";
/** In front of a list: the order does not matter. */
const ANY_ORDER = "<any order>";

type Matcher = (got: unknown) => boolean;

/** The matcher that a text is; undefined for a plain text. */
function matcherOf(text: string): Matcher | undefined {
  if (!/^<.*>$/s.test(text)) return undefined;
  const inner = text.slice(1, -1);
  const plain = PLAIN[inner];
  if (plain !== undefined) return plain;
  for (const [name, matches] of Object.entries(WITH_ARGUMENT)) {
    if (inner.startsWith(`${name} `)) return (got) => matches(got, inner.slice(name.length + 1));
  }
  const known = [
    ...Object.keys(PLAIN),
    ...Object.keys(WITH_ARGUMENT).map((name) => `${name} …`),
    "others",
    "any order",
  ];
  throw new Error(
    `${text} is no matcher; there are <${known.join(">, <")}>; a text that looks like one is <is ${text}>`,
  );
}

/** Throws when a text in `expected` looks like a matcher and is none. */
export function checkMatchers(expected: unknown, place: string): void {
  if (typeof expected === "string") {
    if (expected === OTHERS || expected === ANY_ORDER || expected.includes("${")) return;
    try {
      matcherOf(expected);
    } catch (error) {
      throw new Error(`${place}: ${(error as Error).message}`);
    }
  } else if (typeof expected === "object" && expected !== null) {
    for (const one of Object.values(expected)) checkMatchers(one, place);
  }
}

/** What is different, one line a difference with its place; nothing when `got` is as expected. */
export function differences(expected: unknown, got: unknown, place = ""): readonly string[] {
  const here = place === "" ? "the whole" : place;
  if (typeof expected === "string") {
    const matcher = matcherOf(expected);
    const same = matcher === undefined ? got === expected : matcher(got);
    return same ? [] : [`${here}: expected ${show(expected)}, got ${show(got)}`];
  }
  if (Array.isArray(expected)) {
    if (!Array.isArray(got)) return [`${here}: expected a list, got ${show(got)}`];
    return expected[0] === ANY_ORDER
      ? unorderedDifferences(expected.slice(1), got, here)
      : listDifferences(expected, got, place);
  }
  if (typeof expected === "object" && expected !== null) {
    if (typeof got !== "object" || got === null || Array.isArray(got)) {
      return [`${here}: expected an object, got ${show(got)}`];
    }
    return memberDifferences(expected as Members, got as Members, place);
  }
  return Object.is(expected, got) || expected === got ? [] : [`${here}: expected ${show(expected)}, got ${show(got)}`];
}

type Members = Readonly<Record<string, unknown>>;

function memberDifferences(expected: Members, got: Members, place: string): readonly string[] {
  const inner = (key: string): string => (place === "" ? key : `${place}.${key}`);
  const wanted = Object.entries(expected).filter(([key]) => key !== OTHERS);
  const found = wanted.flatMap(([key, value]) =>
    differences(value, Object.hasOwn(got, key) ? got[key] : undefined, inner(key)),
  );
  if (Object.hasOwn(expected, OTHERS)) return found;
  const extra = Object.keys(got).filter((key) => !Object.hasOwn(expected, key));
  return [...found, ...extra.map((key) => `${inner(key)}: not expected, got ${show(got[key])}`)];
}

function listDifferences(expected: readonly unknown[], got: readonly unknown[], place: string): readonly string[] {
  const open = expected.at(-1) === OTHERS;
  const wanted = open ? expected.slice(0, -1) : expected;
  const here = place === "" ? "the whole" : place;
  if (open ? got.length < wanted.length : got.length !== wanted.length) {
    return [`${here}: expected ${open ? "at least " : ""}${wanted.length} elements, got ${got.length}: ${show(got)}`];
  }
  return wanted.flatMap((one, i) => differences(one, got[i], place === "" ? String(i) : `${place}.${i}`));
}

function unorderedDifferences(expected: readonly unknown[], got: readonly unknown[], here: string): readonly string[] {
  const open = expected.at(-1) === OTHERS;
  const wanted = open ? expected.slice(0, -1) : expected;
  const left = [...got];
  const missing = wanted.filter((one) => {
    const found = left.findIndex((other) => differences(one, other).length === 0);
    if (found >= 0) left.splice(found, 1);
    return found < 0;
  });
  return [
    ...missing.map((one) => `${here}: expected ${show(one)} among ${show(got)}`),
    ...(open ? [] : left.map((one) => `${here}: not expected: ${show(one)}`)),
  ];
}

const SHOWN_MAX = 600;

export function show(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}… (${text.length} characters)` : text;
}
