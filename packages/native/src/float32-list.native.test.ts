import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { readFloat32List } from "./float32-list.js";

const SEED = Number(process.env.SHOAL_TEST_SEED ?? 20261122);

function read(list: string, room = 100) {
  // Not at the start of its buffer: places must not be mixed up.
  const bytes = Buffer.from(`xx[${list}`).subarray(1);
  const out = new Float32Array(room);
  const { at, index, isShortest } = readFloat32List(bytes, 2, out, 0);
  return { rest: bytes.toString("latin1", at), numbers: [...out.subarray(0, index)], isShortest };
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

it(`rounds every spelling as Number and Math.fround do, or leaves it (seed ${SEED})`, () => {
  const random = seededRandom(SEED).next;
  let taken = 0;
  for (let round = 0; round < 40_000; round++) {
    const texts = Array.from({ length: 1 + Math.floor(random() * 8) }, () => spelled(random));
    const list = texts.join();
    const { rest, numbers, isShortest } = read(`${list}]`);
    const expected = texts.slice(0, numbers.length).map((text) => Math.fround(Number(text)));
    expect({ list, numbers }).toEqual({ list, numbers: expected });
    const remains = texts.slice(numbers.length).join();
    if (remains === "") expect(rest).toBe("]");
    else expect(numbers.length === 0 ? rest : rest.slice(1)).toBe(`${remains}]`);
    taken += numbers.length;
    if (isShortest) expect(texts.slice(0, numbers.length)).toEqual(numbers.map(printed));
  }
  expect(taken).toBeGreaterThan(100_000);
});

it("tells plain numbers by their spelling", () => {
  for (const list of ["0.5", "0,1,-1,100,0.000001", "8388607", "-0.8388607,52.3932"]) {
    expect({ list, ...read(`${list}]`) }).toMatchObject({ list, rest: "]", isShortest: true });
  }
  for (const list of [" 1", "1 ", "1, 2", "1e0", "0.5,5e-1", "0.50", "1.0", "-0", "0.0", "0.0000005", "8388609"]) {
    expect({ list, ...read(`${list}]`) }).toMatchObject({ list, rest: "]", isShortest: false });
  }
});

it.each([
  ["]", "]", 0],
  ["1,]", ",]", 1],
  ["1,2", ",2", 1],
  ["1,\n2]", ",\n2]", 1],
  ["1 2]", "1 2]", 0],
  ["1,2.]", ",2.]", 1],
  ["1,.5]", ",.5]", 1],
  ["1,02]", ",02]", 1],
  ["1,2x]", ",2x]", 1],
  ["1,1e]", ",1e]", 1],
  ["1,1e99]", ",1e99]", 1],
  ["1,1e-40]", ",1e-40]", 1],
  ["1,1e00000001]", ",1e00000001]", 1],
  ["1,,2]", ",,2]", 1],
  ["--1]", "--1]", 0],
  ["null]", "null]", 0],
  [`${"9".repeat(50)}]`, `${"9".repeat(50)}]`, 0],
  ["", "", 0],
])("of %j leaves %j", (list, rest, count) => {
  const found = read(list);
  expect({ rest: found.rest, count: found.numbers.length }).toEqual({ rest, count });
});

it("writes no more than there is room for", () => {
  expect(read("1,2,3]", 2)).toEqual({ rest: ",3]", numbers: [1, 2], isShortest: true });
  const out = new Float32Array(4).fill(7);
  expect(readFloat32List(Buffer.from("1,2]"), 0, out, 1)).toMatchObject({ index: 3 });
  expect([...out]).toEqual([7, 1, 2, 7]);
});

it("refuses a place beyond the bytes", () => {
  expect(() => readFloat32List(Buffer.from("1]"), 3, new Float32Array(1), 0)).toThrow(TypeError);
});
