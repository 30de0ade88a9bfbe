import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { readFloat32 } from "./read-float32.js";

const SEED = Number(process.env.SHOAL_TEST_SEED ?? 7);
const out = new Float32Array(2);

function read(text: string): { end: number; value: number } {
  // Not at the start of its buffer: places must not be mixed up.
  const bytes = Buffer.from(`xx${text}]`).subarray(1);
  out[1] = Number.NaN;
  const end = readFloat32(bytes, 1, out, 1);
  return { end: end < 0 ? end : end - 1, value: out[1] };
}

function expectRead(text: string): void {
  const expected = Math.fround(Number(text));
  const { end, value } = read(text);
  if (Number.isFinite(expected)) expect({ text, end, value }).toEqual({ text, end: text.length, value: expected });
  else expect({ text, end }).toEqual({ text, end: -1 });
}

it("rounds as Number and Math.fround do", () => {
  const edges = ["0", "-0", "0.0", "-0.0e5", "1", "-1", "16777217", "16777219", "33554435", "9007199254740993"];
  edges.push(
    "3.4028235e38",
    "3.4028235677973365e38",
    "3.4028235677973366e38",
    "3.4028236e38",
    "1e39",
    "-1e39",
    "1e999",
  );
  edges.push(
    "1.401298464324817e-45",
    "7.006492321624085e-46",
    "7.006492321624086e-46",
    "1e-46",
    "1e-400",
    "1.17549435e-38",
  );
  edges.push(
    "1e22",
    "1e23",
    "1e-22",
    "1e-23",
    "0.1",
    "0.30000001192092896",
    "1E5",
    "1e+5",
    "1e05",
    "123456789012345678",
  );
  edges.push("999999999999999", "9999999999999999", "0.000000000000000000000000000001", `1${"0".repeat(40)}e-40`);
  edges.push(
    `0.${"0".repeat(400)}1e401`,
    "1e99999999999999999999",
    "0e99999999999999999999",
    "1e-99999999999999999999",
  );
  // Halfway between two float32 values, and a hair above and below, with more digits than are kept.
  edges.push("1.000000059604644775390625", "1.0000000596046447753906249", "1.0000000596046447753906251");
  for (const text of edges) expectRead(text);
});

it(`the same for random numbers in all spellings (seed ${SEED})`, () => {
  const { next: random } = seededRandom(SEED);
  const bits = new Uint32Array(1);
  const float = new Float32Array(bits.buffer);
  for (let i = 0; i < 200_000; i++) {
    bits[0] = random() * 2 ** 32;
    const any = Number.isFinite(float[0]) ? (float[0] ?? 0) : 0.5;
    const small = (random() * 2 - 1) * 10 ** Math.floor(random() * 6 - 3);
    const value = random() < 0.5 ? any : small;
    const dice = random();
    if (dice < 0.3) expectRead(String(value).replace("e+", "e"));
    else if (dice < 0.6) expectRead(value.toPrecision(1 + Math.floor(random() * 30)).replace("e+", "e"));
    else if (dice < 0.8) expectRead(small.toFixed(Math.floor(random() * 25)));
    else {
      // Digits of a point between two float32 values, cut or prolonged.
      const low = Math.fround(small);
      bits[0] = 0;
      float[0] = low;
      bits[0]++;
      const middle = (low + (float[0] ?? 0)) / 2;
      expectRead(
        `${middle.toPrecision(17 + Math.floor(random() * 30))}${random() < 0.5 ? "" : "e-3"}`.replace(/e[+-]\d+e/, "e"),
      );
    }
  }
});

it("knows what is no number", () => {
  for (const text of [
    "",
    "-",
    "+1",
    ".5",
    "1.",
    "1.e5",
    "01",
    "-01",
    "1e",
    "1e+",
    "1.5e-",
    "x",
    "NaN",
    "Infinity",
    "--1",
  ]) {
    expect({ text, end: read(text).end }).toEqual({ text, end: -1 });
  }
  expect(read("12x")).toEqual({ end: 2, value: 12 });
  expect(readFloat32(Buffer.from("12"), 0, out, 0)).toBe(2);
  expect(readFloat32(Buffer.from(""), 0, out, 0)).toBe(-1);
});
