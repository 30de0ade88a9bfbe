import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { readFloat32List } from "./float32-list.js";

const SEED = Number(process.env.SHOAL_TEST_SEED ?? 20261122);

function read(list: string, form: "json" | "graphql" = "json", room = 100) {
  // Not at the start of its buffer: places must not be mixed up.
  const bytes = Buffer.from(`xx[${list}`).subarray(1);
  const out = new Float32Array(room);
  const found = readFloat32List(bytes, 2, out, 0, form);
  return found && { end: found.end - 2, numbers: [...out.subarray(0, found.index)], isShortest: found.isShortest };
}

/** The shortest decimal that is read back as the float32, as JavaScript spells it. */
function printed(value: number): string {
  for (let digits = 1; digits <= 9; digits++) {
    const candidate = Number(value.toPrecision(digits));
    if (Math.fround(candidate) === value) return String(candidate);
  }
  throw new Error(`nothing is read back as ${value}`);
}

function spelled(random: () => number): string {
  const value = (random() * 2 - 1) * 10 ** Math.floor(random() * 30 - 15);
  const kind = random();
  if (kind < 0.2) return value.toFixed(Math.floor(random() * 20));
  if (kind < 0.4) return value.toPrecision(1 + Math.floor(random() * 30)).replace("e+", random() < 0.5 ? "e" : "e+");
  if (kind < 0.6) return String(Math.round(value));
  if (kind < 0.7) return printed(Math.fround(value));
  return String(Math.round(random() * 2e7 - 1e7) / 10 ** Math.floor(random() * 9));
}

it(`rounds every spelling as Number and Math.fround do (seed ${SEED})`, () => {
  const random = seededRandom(SEED).next;
  let shortest = 0;
  for (let round = 0; round < 40_000; round++) {
    const texts = Array.from({ length: 1 + Math.floor(random() * 8) }, () => spelled(random));
    const list = texts.join();
    const numbers = texts.map((text) => Math.fround(Number(text)));
    const expected = { list, end: list.length + 1, numbers };
    expect({ list, ...read(`${list}]x`) }).toMatchObject(expected);
    expect({ list, ...read(`${list}]x`, "graphql") }).toMatchObject({ ...expected, isShortest: false });
    if (read(`${list}]`)?.isShortest !== true) continue;
    shortest++;
    expect(texts).toEqual(numbers.map(printed));
  }
  expect(shortest).toBeGreaterThan(1_000);
});

it("tells plain numbers by their spelling", () => {
  for (const list of ["0.5", "0,1,-1,100,0.000001", "8388607", "-0.8388607,52.3932"]) {
    expect({ list, ...read(`${list}]`) }).toMatchObject({ list, end: list.length + 1, isShortest: true });
  }
  for (const list of [" 1", "1 ", "1, 2", "1e0", "0.5,5e-1", "0.50", "1.0", "-0", "0.0", "0.0000005", "8388609"]) {
    expect({ list, ...read(`${list}]`) }).toMatchObject({ list, end: list.length + 1, isShortest: false });
  }
});

function expectRead(text: string): void {
  const value = Math.fround(Number(text));
  const expected = Number.isFinite(value) ? { end: text.length + 1, value } : { end: undefined, value: undefined };
  for (const form of ["json", "graphql"] as const) {
    const found = read(`${text}]`, form);
    expect({ text, form, end: found?.end, value: found?.numbers[0] }).toEqual({ text, form, ...expected });
  }
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

it.each([
  ["1,\n2\t, \r3 ]", [1, 2, 3], undefined],
  [String.raw`1\n2 ,,\t-3\r,]`, undefined, [1, 2, -3]],
  [" ,1]", undefined, [1]],
  ["1-2]", undefined, [1, -2]],
  ["1 2]", undefined, [1, 2]],
  ["1,]", undefined, [1]],
  ["1,,2]", undefined, [1, 2]],
  ["1,2]", [1, 2], [1, 2]],
  ...[
    ...[
      "",
      "]",
      " ]",
      "1,2",
      "1 ",
      "null]",
      "--1]",
      "-]",
      "+1]",
      ".5]",
      "1.]",
      "1.e5]",
      "01]",
      "-01]",
      "1e]",
      "1e+]",
      "1.5e-]",
    ],
    ...[
      "x]",
      "NaN]",
      "Infinity]",
      "1,2x]",
      "1,2.]",
      "1,02]",
      "1.5.2]",
      "1_]",
      '1"2"]',
      "1[2]]",
      "1,1e99]",
      "1,1e39]",
      "1\v2]",
      "1\\x2]",
    ],
  ].map((list) => [list, undefined, undefined] as const),
  [`${"9".repeat(500)}]`, undefined, undefined],
] as const)("reads %j as %j, and in GraphQL as %j", (list, json, graphql) => {
  expect([read(list)?.numbers, read(list, "graphql")?.numbers]).toEqual([json, graphql]);
});

it("writes no more than there is room for, behind what is there", () => {
  for (const form of ["json", "graphql"] as const) {
    expect(read("1,2,3]", form, 2)).toBe(undefined);
    expect(read("1,2]", form, 2)?.numbers).toEqual([1, 2]);
    const out = new Float32Array(4).fill(7);
    expect(readFloat32List(Buffer.from("1,2]"), 0, out, 1, form)).toMatchObject({ end: 4, index: 3 });
    expect([...out]).toEqual([7, 1, 2, 7]);
  }
});

it("refuses a place beyond the bytes", () => {
  expect(() => readFloat32List(Buffer.from("1]"), 3, new Float32Array(1), 0, "json")).toThrow(TypeError);
});
