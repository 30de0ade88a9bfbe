import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { ShoalError } from "../errors/shoal-error.js";
import { JsonNumber } from "../objects/json-number.js";
import { CLASS_BODY } from "./class-body.js";
import { decodeBody } from "./decode-body.js";

const SEED = Number(process.env.SHOAL_FUZZ_SEED ?? 20_261_120);
const REASON =
  /^the request body cannot be read: (it|member '\w+(\[\d+\])?(\.\w+(\[\d+\])?)*') must be (a string|true or false|an object|a list of (objects|strings)|an integer of at most 64 bits, without fraction or exponent), got (an object|a list|true|false|null|the string ".*"|the number \S+)$/;

/** Every name of a member, in a case that varies. */
const NAMES = ["class", "description", "properties", "name", "dataType", "indexInverted", "invertedIndexConfig"];
const OTHER_NAMES = ["cleanupIntervalSeconds", "vectorizer", "moduleConfig", "__proto__", "constructor", "x"];

it(`whatever the body: it is read, or refused with its place, rule and value (seed ${SEED})`, () => {
  const { below, pick } = seededRandom(SEED);
  const cased = (name: string): string => (below(3) === 0 ? pick([name.toUpperCase(), name.toLowerCase()]) : name);
  const value = (depth: number): unknown => {
    const kind = below(depth > 0 ? 8 : 5);
    if (kind === 0) return pick([null, true, 0, 7, 1.5, -1, new JsonNumber("1.0"), new JsonNumber("1e400")]);
    if (kind < 5) return pick(["", "text", "Foo"]);
    if (kind === 5) return Array.from({ length: below(4) }, () => value(depth - 1));
    return Object.fromEntries(
      Array.from({ length: below(5) }, () => [cased(pick([...NAMES, ...OTHER_NAMES])), value(depth - 1)]),
    );
  };
  const outcomes = { read: 0, refused: 0 };
  for (let round = 0; round < 20_000; round++) {
    const body = value(4);
    try {
      const read = decodeBody(CLASS_BODY, body);
      outcomes.read++;
      for (const name of Object.keys(read)) expect(Object.keys(CLASS_BODY.shape)).toContain(name);
      expect(Object.values(read)).not.toContain(null);
    } catch (thrown) {
      if (!(thrown instanceof ShoalError)) throw thrown;
      outcomes.refused++;
      expect(thrown.code).toBe("malformed");
      expect(thrown.message).toMatch(REASON);
    }
  }
  expect(outcomes.read).toBeGreaterThan(2_000);
  expect(outcomes.refused).toBeGreaterThan(2_000);
});

it("an exact name wins over another case, and its null is absent", () => {
  expect(decodeBody(CLASS_BODY, { CLASS: "A", class: "B" })).toEqual({ class: "B" });
  expect(decodeBody(CLASS_BODY, { CLASS: "A", class: null })).toEqual({});
  expect(decodeBody(CLASS_BODY, null)).toEqual({});
});
