import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { holdsDisguisedInteger } from "./disguised-integer.js";

const SEED = Number(process.env.FUZZ_SEED) || 53;

/** A literal as a double sees it is an integer, but it is not written as one. */
const isDisguised = (literal: string): boolean => Number.isInteger(Number(literal)) && !/^-?\d+$/.test(literal);

describe("integers in disguise", () => {
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
  ])("are found: %s", (literal) => {
    for (const text of [`[${literal}]`, `{"a":${literal} }`, `[1,"x\\"",${literal}\n,2]`]) {
      expect(holdsDisguisedInteger(text), text).toBe(true);
    }
    for (const text of [
      `["${literal}"]`,
      `{"${literal}":[1,2.5,-3]}`,
      `["\\"${literal}]",0]`,
      `["\\\\",1,"${literal}"]`,
    ]) {
      expect(holdsDisguisedInteger(text), text).toBe(false);
    }
  });

  it(`are never missed, whatever stands around them, seed ${SEED}`, () => {
    const random = seededRandom(SEED).below;
    const digits = (most: number): string =>
      Array.from({ length: random(most) + 1 }, () => "09900123"[random(8)]).join("");
    const literal = (): string => {
      const whole = digits(12).replace(/^0+(?=\d)/, "");
      const fraction = random(2) === 0 ? "" : `.${digits(22)}`;
      const exponent = random(2) === 0 ? "" : `${"eE"[random(2)]}${["", "+", "-"][random(3)]}${digits(3)}`;
      return `${random(4) === 0 ? "-" : ""}${whole}${fraction}${exponent}`;
    };
    const text = (): string => JSON.stringify(["a", '"', "\\", "1.0", "[", "ä", ""][random(7)]);
    let found = 0;
    for (let round = 0; round < 20_000; round++) {
      const items = Array.from({ length: random(4) + 1 }, () => (random(2) === 0 ? literal() : text()));
      const json = `{${text()}:[${items.join([",", " , ", "\n,"][random(3)])}]}`;
      JSON.parse(json);
      const isThere = items.some((item) => !item.startsWith('"') && isDisguised(item));
      if (isThere) found++;
      if (isThere) expect(holdsDisguisedInteger(json), json).toBe(true);
      // Fractions that no double takes for an integer, and plain integers, do not cost the slow parser.
      else if (!items.some((item) => /^-?\d.*[.eE]/.test(item))) expect(holdsDisguisedInteger(json), json).toBe(false);
    }
    expect(found).toBeGreaterThan(2_000);
  });
});
