import { JsonNumber } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { expect, test } from "vitest";
import { JsonScanner, type JsonToken } from "./json-scanner.js";
import { parseJson } from "./parse-json.js";

const SEED = Number(process.env.SHOAL_TEST_SEED ?? 20261120);

const PIECES = [
  ...["{", "}", "[", "]", "{", "}", "[", "]", ":", ",", ":", ",", ":", ",", " ", "\n\t\r", "\ufeff", "é", "'", "😀"],
  ...[
    '"a"',
    '"a":',
    '"":',
    '"__proto__":',
    '"\\u00e9"',
    '"\\"',
    '"\\\\"',
    '"ü€😀"',
    '"\\u12',
    '"\\x"',
    '"\u0001"',
    '"',
  ],
  ...["1", "-0.5e+3", "01", "-", "1.", "1e", "1e+", "0.1", "12345678901234567890", "true", "nul", "null", "false"],
];

function text(random: (below: number) => number): string {
  return Array.from({ length: 1 + random(12) }, () => PIECES[random(PIECES.length)]).join("");
}

/** All that a scanner says of a text that is read in steps of `step` bytes. */
function said(bytes: Buffer, step: () => number): readonly unknown[] {
  const scanner = new JsonScanner(bytes, 5);
  const all: unknown[] = [];
  for (let pauseAt = step(); ; ) {
    const token: JsonToken = scanner.next(pauseAt);
    if (token === "pause") {
      pauseAt = scanner.at + step();
      continue;
    }
    all.push([token, scanner.start, scanner.at, scanner.depth]);
    if (token !== "end" && token !== "problem") continue;
    const { members, containers, scalars, problem } = scanner;
    return [...all, { members, containers, scalars, problem }];
  }
}

test(`a text that is read in steps is read as at once, seed ${SEED}`, () => {
  const random = seededRandom(SEED).below;
  for (let round = 0; round < 20_000; round++) {
    const given = text(random);
    const bytes = Buffer.from(given);
    const whole = said(bytes, () => Number.POSITIVE_INFINITY);
    expect(
      said(bytes, () => 1 + random(4)),
      given,
    ).toEqual(whole);
  }
});

test(`what is parsed exactly is what JSON.parse makes of it, seed ${SEED}`, () => {
  const random = seededRandom(SEED).below;
  let values = 0;
  for (let round = 0; round < 60_000; round++) {
    const given = text(random);
    const scanner = new JsonScanner(Buffer.from(given), 200);
    let token = scanner.next(Number.POSITIVE_INFINITY);
    while (token !== "end" && token !== "problem") token = scanner.next(Number.POSITIVE_INFINITY);
    if (token === "problem") continue;
    values++;
    const value = JSON.parse(Buffer.from(given).toString("utf8", 0, scanner.at));
    const exact = parseJson(Buffer.from(given), "all");
    expect(plain(exact), given).toEqual(value);
    // JsonNumber is written as the number that it is nearest to.
    expect(JSON.stringify(exact), given).toBe(JSON.stringify(value));
  }
  expect(values).toBeGreaterThan(2_000);
});

/** The same with plain numbers. */
function plain(value: unknown): unknown {
  if (value instanceof JsonNumber) return value.toNumber();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, plain(member)]);
  return Object.fromEntries(members);
}
