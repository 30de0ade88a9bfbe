import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { float32ArrayToJson } from "./float32.js";
import { readVector } from "./read-vector.js";

const SEED = Number(process.env.SHOAL_TEST_SEED ?? 20261120);

function cut(array: string) {
  const vector = readVector(Buffer.from(`{"vector":${array}}`), 10);
  return {
    printed: vector && float32ArrayToJson(vector.vector),
    kept: vector?.json && Buffer.from(vector.json).toString(),
  };
}

/** A decimal as somebody may write it, near and beyond what is kept. */
function decimal(random: () => number): string {
  const digits = 1 + Math.floor(random() * 9);
  const mantissa = Math.floor(random() * 10 ** digits);
  const sign = random() < 0.4 ? "-" : "";
  const places = Math.floor(random() * 14);
  const kind = random();
  if (kind < 0.1) return `${sign}${mantissa}`;
  if (kind < 0.15) return `${sign}${mantissa}e-${places}`;
  if (kind < 0.2) return `${sign}${mantissa}${"0".repeat(places)}`;
  const text = String(mantissa).padStart(places + 1, "0");
  if (places === 0) return sign + text;
  return `${sign}${text.slice(0, -places)}.${text.slice(-places)}`;
}

it(`the text of a vector is kept only where it is what is printed (seed ${SEED})`, () => {
  const random = seededRandom(SEED).next;
  let kept = 0;
  for (let round = 0; round < 300_000; round++) {
    const text = `[${decimal(random)}]`;
    const found = cut(text);
    if (found.kept === undefined) continue;
    kept++;
    if (found.kept !== text || found.printed !== text) expect.fail(`seed ${SEED}: ${text} is printed ${found.printed}`);
  }
  expect(kept).toBeGreaterThan(100_000);
});

it(`is kept at every binade's ends, where float32 values are farthest apart (seed ${SEED})`, () => {
  const random = seededRandom(SEED).next;
  for (let exponent = -20; exponent < 30; exponent++) {
    for (let round = 0; round < 2_000; round++) {
      const value = 2 ** exponent * (1 + (random() - 0.5) / 1000);
      for (const digits of [6, 7]) {
        const text = `[${Number(value.toPrecision(digits))}]`;
        const found = cut(text);
        if (found.kept !== undefined && found.printed !== text) expect.fail(`${text} is printed ${found.printed}`);
        if (digits === 6 && Math.abs(value) > 1e-5 && value < 1e5)
          expect({ text, kept: found.kept }).toEqual({ text, kept: text });
      }
    }
  }
});

it("is not kept with white space, exponents, zeros at the end, a minus before zero or more than 23 bits", () => {
  for (const array of ["[0.5]", "[0,1,-1,100,0.000001]", "[8388607]", "[-0.8388607,52.3932]"]) {
    expect(cut(array)).toEqual({ printed: array, kept: array });
  }
  for (const array of [
    "[ 1]",
    "[1 ]",
    "[1,\n2]",
    "[1,2\t,3]",
    "[1e0]",
    "[0.5,5e-1]",
    "[0.50]",
    "[1.0]",
    "[-0]",
    "[0.0]",
  ]) {
    expect({ array, kept: cut(array).kept }).toEqual({ array, kept: undefined });
  }
  for (const array of ["[0.0000005]", "[8388609]", "[0.30000001192092896]", "[0.5,0.8388609]", "[16777217]"]) {
    expect({ array, kept: cut(array).kept }).toEqual({ array, kept: undefined });
  }
});

/** Between the parts of a list: mostly nothing, white space of JSON, or what is none. */
function gap(random: () => number): string {
  const kind = random();
  if (kind < 0.7) return "";
  if (kind < 0.995) return [" ", "\n", "\t", "\r\n", "  "][Math.floor(random() * 5)] as string;
  return ["\v", ",", "-", "]", "x", "0"][Math.floor(random() * 6)] as string;
}

it(`reads what JSON.parse reads, and nothing else, whatever stands between the numbers (seed ${SEED})`, () => {
  const random = seededRandom(SEED).next;
  let cuts = 0;
  for (let round = 0; round < 50_000; round++) {
    const numbers = Array.from({ length: Math.floor(random() * 12) }, () =>
      decimal(random).replace(/^(-?)0+(?=\d)/, "$1"),
    );
    const list = `[${numbers.map((number) => gap(random) + number + gap(random)).join(",")}]`;
    const vector = readVector(Buffer.from(`{"vector":${list}}`), 10)?.vector;
    let parsed: number[] | undefined;
    try {
      parsed = JSON.parse(`{"vector":${list}}`).vector;
    } catch {
      // No JSON.
    }
    // A bracket too much ends the list; the general parser then finds what is wrong with the rest.
    const expected = parsed?.length ? parsed.map(Math.fround) : undefined;
    if (vector !== undefined) cuts++;
    if (expected === undefined && list.indexOf("]") < list.length - 1) continue;
    expect({ list, numbers: vector && [...vector] }).toEqual({ list, numbers: expected });
  }
  expect(cuts).toBeGreaterThan(30_000);
});
