import { isUtf8 } from "node:buffer";
import { JsonNumber, ShoalError } from "@shoal/model";
import { LoopCounter } from "@shoal/runtime/testing/loop-counter";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import { float32ArrayToJson } from "../json/float32.js";
import { BATCH_BODY } from "../json/json-size.js";
import { JSON_DEPTH_MAX, parseJson, scanJson } from "../json/parse-json.js";
import { noJson } from "../json/scan-problem.js";
import { readBatchBody } from "./batch-body.js";
import { readObjectBody, type SentObject } from "./object-body.js";
import { readReference, readReferenceBatch, readReferences, readRemovedReferences } from "./reference-body.js";

const SEED = Number(process.env.SHOAL_TEST_SEED ?? 20261120);
const ROUNDS = 5 * Number(process.env.SHOAL_FUZZ_REQUESTS ?? 400);

const BEACON = "weaviate://localhost/8e2997f2-1972-4ee2-ad35-5fc704f2893e";
const NUMBERS = ["1", "1.0", "1e2", "0.1", "12345678901234567890", "1e400", "-0", "1.00000000000000000001", "1e39"];
const STRINGS = [
  '"Car"',
  '"ALL"',
  '""',
  '"x"',
  `"${BEACON}"`,
  '"\\u0041\\n\\"[{"',
  '"ü€😀"',
  '"1.0, 2"',
  '"vector\\":[1]"',
];
const OBJECTS_NAMES = ["objects", "objects", "objects", "objects", "Objects", "OBJECTS", "\\u006fbjects", "object"];
const SPACE = ["", "", "", " ", "\n", "\t\r "];

function scalar(random: SeededRandom): string {
  return random.pick([...STRINGS, ...NUMBERS, "null", "true", "false"]);
}

function list(random: SeededRandom, item: () => string): string {
  const space = () => random.pick(SPACE);
  const items = Array.from({ length: random.below(5) }, item);
  return `[${items.map((text) => space() + text + space()).join(",")}${space()}]`;
}

function value(random: SeededRandom, depth: number): string {
  if (depth === 0 || random.below(2) === 0) return scalar(random);
  if (random.below(2) === 0) return list(random, () => value(random, depth - 1));
  const members = Array.from({ length: random.below(4) }, () => `${random.pick(STRINGS)}:${value(random, depth - 1)}`);
  return `{${members.join(",")}}`;
}

/** Members of anything, each mostly of the kind that it should be. */
function members(random: SeededRandom, usual: Readonly<Record<string, () => string>>): string {
  const names = Object.keys(usual);
  const texts = names
    .concat(random.below(3) === 0 ? random.pick(names) : [])
    .filter(() => random.below(6) > 0)
    .map((name) => {
      const spelled = random.pick([
        name,
        name,
        name,
        name,
        name.toUpperCase(),
        `\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}`,
      ]);
      return `"${spelled}"${random.pick(SPACE)}:${random.pick(SPACE)}${random.below(12) === 0 ? value(random, 2) : usual[name]?.()}`;
    });
  return `{${texts.join(`${random.pick(SPACE)},`)}}`;
}

function vector(random: SeededRandom): string {
  const odd = random.below(10) === 0;
  return list(random, () => (odd ? scalar(random) : random.pick(["0.25", "-1", "1e-3", "0.1234567890123456789"])));
}

function object(random: SeededRandom): string {
  if (random.below(20) === 0) return value(random, 2);
  return members(random, {
    class: () => '"Car"',
    id: () => '"8e2997f2-1972-4ee2-ad35-5fc704f2893e"',
    properties: () =>
      members(random, {
        text: () => random.pick(STRINGS),
        n: () => random.pick(NUMBERS),
        numbers: () => list(random, () => random.pick(NUMBERS)),
        vector: () => vector(random),
        nested: () => value(random, 3),
      }),
    vector: () => vector(random),
    creationTimeUnix: () => "1",
  });
}

function batch(random: SeededRandom): string {
  if (random.below(20) === 0) return value(random, 3);
  const usual = {
    fields: () => list(random, () => random.pick(['"ALL"', '"ALL"', '"class"', '"id"', scalar(random)])),
    objects: () => list(random, () => object(random)),
    other: () => value(random, 3),
  };
  return members(random, usual).replace(/"objects"/g, () => `"${random.pick(OBJECTS_NAMES)}"`);
}

const reference = (random: SeededRandom): string =>
  random.below(12) === 0
    ? value(random, 2)
    : members(random, { beacon: () => `"${BEACON}"`, href: () => scalar(random) });

const pair = (random: SeededRandom): string =>
  random.below(12) === 0 ? value(random, 2) : members(random, { from: () => `"${BEACON}"`, to: () => `"${BEACON}"` });

/** The text as it is, damaged somewhere, nested too deep somewhere, or with something before or behind it. */
function damaged(random: SeededRandom, text: string): string {
  const at = random.below(text.length + 1);
  const pieces = ["", '"', "{", "]", ",", ":", "\\", "\u0000", "tru", "1.", "😀", "[".repeat(199), "[".repeat(200)];
  const kind = random.below(10);
  if (kind === 0) return text.slice(0, at) + random.pick(pieces) + text.slice(at);
  if (kind === 1) return text.slice(0, at);
  if (kind === 2) return text.slice(0, at) + text.slice(at + 1 + random.below(3));
  if (kind === 3) return random.pick(["\ufeff", " ", "\n"]) + text;
  if (kind === 4) return text + random.pick([" ", "x", "}", text, "[[[["]);
  const deep = 190 + random.below(14);
  if (kind === 5) return text.replace(/:\s*null/, () => `:${"[".repeat(deep)}${"]".repeat(deep)}`);
  return text;
}

/**
 * The same with vectors as float32 numbers, whether they were cut out of the text or not. Their texts stand beside those that
 * were cut out, and are what is printed.
 */
function decoded(read: unknown): unknown {
  if (Array.isArray(read)) return read.map(decoded);
  if (typeof read !== "object" || read === null || !("vector" in read)) return read;
  const { vector, vectorJson } = read as Partial<SentObject>;
  if (vectorJson !== undefined) {
    const printed = vector instanceof Float32Array ? float32ArrayToJson(vector) : undefined;
    expect(Buffer.from(vectorJson).toString()).toBe(printed);
  }
  if (!(vector instanceof Float32Array) && !Array.isArray(vector)) return read;
  const numbers = Array.from(vector, (one: unknown) => {
    const number = one instanceof JsonNumber ? one.toNumber() : one;
    return typeof number === "number" ? Math.fround(number) : one;
  });
  return { ...read, vector: numbers, vectorJson: undefined };
}

/** What a body is read to, or its refusal; vectors as the numbers they are decoded to. */
async function outcome(read: () => unknown): Promise<unknown> {
  try {
    return { read: decoded(await read()) };
  } catch (thrown) {
    if (!(thrown instanceof ShoalError)) throw thrown;
    return { code: thrown.code, message: thrown.message };
  }
}

/** The code of a refusal, or what was read. */
function codeOf(outcome: unknown): unknown {
  return typeof outcome === "object" && outcome !== null && "code" in outcome ? outcome.code : outcome;
}

/** The same value as another text: on one line, each name once, and no vector under a name that is known by its bytes. */
function respelled(value: unknown): string {
  if (value instanceof JsonNumber) return value.literal;
  if (Array.isArray(value)) return `[${value.map(respelled).join()}]`;
  if (typeof value !== "object" || value === null) return Object.is(value, -0) ? "-0" : JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => {
    const spelled = name === "vector" ? '"\\u0076ector"' : JSON.stringify(name);
    return `${spelled}:${respelled(member)}`;
  });
  return `{${members.join()}}`;
}

type Read = (bytes: Buffer) => unknown;

/** What a body must be read to: as JSON.parse makes a value of it, or as the scanner refuses it. */
async function expected(bytes: Buffer, read: Read): Promise<unknown> {
  const scan = scanJson(bytes, BATCH_BODY);
  if ("problem" in scan) {
    const { code, message } = noJson(bytes, scan.problem, JSON_DEPTH_MAX);
    return { code, message };
  }
  return outcome(() => read(Buffer.from(respelled(parseJson(bytes, "all")))));
}

const MOST = 3;
const listOfReferences = (random: SeededRandom) => list(random, () => reference(random));
const READERS: readonly (readonly [string, (random: SeededRandom) => string, Read])[] = [
  ["an object", object, (bytes) => readObjectBody(bytes, {})],
  ["a batch of objects", batch, (bytes) => readBatchBody(bytes, MOST, {})],
  ["a reference", reference, (bytes) => readReference(bytes, {})],
  [
    "a list of references",
    (random) => (random.below(12) === 0 ? value(random, 2) : listOfReferences(random)),
    (bytes) => readReferences(bytes, MOST, {}),
  ],
  [
    "removed references",
    (random) => (random.below(2) === 0 ? reference(random) : listOfReferences(random)),
    (bytes) => readRemovedReferences(bytes, MOST, {}),
  ],
  [
    "a batch of references",
    (random) => (random.below(12) === 0 ? value(random, 2) : list(random, () => pair(random))),
    (bytes) => readReferenceBatch(bytes, MOST, {}),
  ],
];

describe.each(READERS)(`the body of %s, seed ${SEED}`, (_, text, read) => {
  test("is read as JSON.parse reads it", async () => {
    const random = seededRandom(SEED);
    let accepted = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const bytes = Buffer.from(damaged(random, text(random)));
      if (random.below(50) === 0 && bytes.length > 0) bytes[random.below(bytes.length)] = 0xff;
      const wanted = await expected(bytes, read);
      if (typeof wanted === "object" && wanted !== null && "read" in wanted) accepted++;
      const got = await outcome(() => read(bytes));
      // Of bytes that are no UTF-8 the place is told by what they were made of.
      if (isUtf8(bytes)) expect(got, bytes.toString()).toEqual(wanted);
      else expect(codeOf(got), bytes.toString()).toEqual(codeOf(wanted));
    }
    expect(accepted).toBeGreaterThan(ROUNDS / 5);
    expect(accepted).toBeLessThan(ROUNDS - ROUNDS / 10);
  });
});

test(`a long body is read in steps to what its items are read to, seed ${SEED}`, async () => {
  const random = seededRandom(SEED);
  const texts: string[] = [];
  for (let bytes = 0; bytes < 3_000_000; ) {
    const text = object(random);
    if ("code" in ((await outcome(() => readBatchBody(Buffer.from(`{"objects":[${text}]}`), 1, {}))) as object))
      continue;
    texts.push(text);
    bytes += text.length;
  }
  const wanted: unknown[] = [];
  for (const text of texts) {
    wanted.push(...(await readBatchBody(Buffer.from(`{"objects":[${text}]}`), 1, {})));
  }
  using counter = new LoopCounter();
  const read = await readBatchBody(Buffer.from(`{"objects":[${texts.join()}]}`), texts.length, {});
  expect(counter.iterations).toBeGreaterThan(3);
  expect(decoded(read)).toEqual(decoded(wanted));
});
