import { JsonNumber } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { lostAsNumber } from "./number-literal.js";
import { parseJson } from "./parse-json.js";

const SEED = Number(process.env.FUZZ_SEED) || 53;

function lost(literal: string): string {
  // Not at the start of its buffer: places must not be mixed up.
  return lostAsNumber(Buffer.from(`1.0,${literal},1.0`), 4, 4 + literal.length);
}

/** By the rules, without any of the shortcuts. */
function expected(literal: string): string {
  const value = Number(literal);
  if (/^-?\d+$/.test(literal)) return Number.isSafeInteger(value) ? "nothing" : "integer";
  return Number.isFinite(value) && !Number.isInteger(value) ? "nothing" : "form";
}

it.each([
  "1.0",
  "-1.0",
  "1e2",
  "1E+2",
  "10e-1",
  "5e-0",
  "0.99999999999999999999",
  "1e-400",
  "299999999999999999999e-20",
])("an integer in disguise is told: %s", (literal) => {
  expect(lost(literal)).toBe("form");
  for (const text of [`[${literal}]`, `{"a":${literal} }`, `[1,"x\\"",${literal}\n,2]`]) {
    expect(JSON.stringify(parseJson(Buffer.from(text), "all"))).toBe(JSON.stringify(JSON.parse(text)));
    expect(literalsOf(parseJson(Buffer.from(text), "all"))).toEqual([literal]);
  }
  for (const text of [`["${literal}"]`, `{"${literal}":[1,2.5,-3]}`, `["\\"${literal}]",0]`]) {
    expect(parseJson(Buffer.from(text), "all")).toEqual(JSON.parse(text));
  }
});

it(`what a plain number loses is told of every spelling, seed ${SEED}`, () => {
  const random = seededRandom(SEED).below;
  const digits = (most: number): string =>
    Array.from({ length: random(most) + 1 }, () => "09900123"[random(8)]).join("");
  const kinds = new Map<string, number>();
  for (let round = 0; round < 100_000; round++) {
    const whole = digits(20).replace(/^0+(?=\d)/, "");
    const fraction = random(2) === 0 ? "" : `.${digits(22)}`;
    const exponent = random(2) === 0 ? "" : `${"eE"[random(2)]}${["", "+", "-"][random(3)]}${digits(3)}`;
    const literal = `${random(4) === 0 ? "-" : ""}${whole}${fraction}${exponent}`;
    const kind = lost(literal);
    expect({ literal, kind }).toEqual({ literal, kind: expected(literal) });
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  for (const kind of ["nothing", "integer", "form"]) expect(kinds.get(kind), kind).toBeGreaterThan(1_000);
});

it(`short fractions are told from integers, seed ${SEED}`, () => {
  const random = seededRandom(SEED).below;
  for (let round = 0; round < 100_000; round++) {
    const length = 2 + random(14);
    const point = 1 + random(length - 1);
    const all = Array.from({ length }, () => "0999999123"[random(10)]).join("");
    const literal = `${all.slice(0, point).replace(/^0+(?=\d)/, "")}.${all.slice(point)}`;
    expect({ literal, kind: lost(literal) }).toEqual({ literal, kind: expected(literal) });
  }
});

function literalsOf(value: unknown): readonly string[] {
  if (value instanceof JsonNumber) return [value.literal];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(literalsOf) : [];
}
