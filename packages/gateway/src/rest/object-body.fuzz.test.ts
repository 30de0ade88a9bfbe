import { ShoalError } from "@shoal/model";
import { describe, expect, test } from "vitest";
import { cutVectors } from "../json/cut-vectors.js";
import { float32ArrayToJson } from "../json/float32.js";
import { readBatchBody } from "./batch-body.js";
import { readObjectBody, type SentObject } from "./object-body.js";

const SEED = Number(process.env.SHOAL_TEST_SEED ?? 20261120);

/** Small deterministic generator (mulberry32). */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * below);
  };
}

const pick = <T>(random: (below: number) => number, values: readonly T[]): T => values[random(values.length)] as T;

function vectorText(random: (below: number) => number): string {
  const kinds = ["0.25", "-1", "1e-3", "0.1234567890123456789", "1E2", "-0.0", "3.4028235e38", " 7 ", "\n5"];
  const odd = ["1e39", '"x"', "null", "[1]", "01", "", "NaN", "1.", "true"];
  const numbers = Array.from({ length: random(6) }, () => pick(random, random(25) === 0 ? odd : kinds));
  return `[${numbers.join(",")}]`;
}

function objectText(random: (below: number) => number): string {
  const text = pick(random, ["plain", 'a \\"vector\\": [1,2] b', "vector", "\\\\", "ü€"]);
  const members = [
    `"class":${pick(random, ['"Word"', "null", "5"])}`,
    `"${pick(random, ["vector", "vector", "vector", "Vector"])}"${pick(random, [":", " : ", ":\n"])}${vectorText(random)}`,
    `"properties":{"text":"${text}","n":${pick(random, ["1", "1.0", "12345678901234567890", "1e2"])}${
      random(6) === 0 ? `,"vector":${vectorText(random)}` : ""
    }}`,
  ];
  if (random(8) === 0) members.push(`"vector":${vectorText(random)}`);
  return `{${members.slice(random(2)).join(",")}}`;
}

/**
 * What a body is read to, with vectors as plain numbers, or the error. The text of a vector stands beside it only where it
 * is what is printed: that is looked at here, and left out.
 */
function outcome(read: () => unknown): unknown {
  try {
    return JSON.parse(
      JSON.stringify(read(), function (this: Partial<SentObject>, key, value: unknown) {
        if (key === "vectorJson") {
          if (value !== undefined) expectPrinted(this);
          return undefined;
        }
        return key === "vector" && (Array.isArray(value) || value instanceof Float32Array)
          ? Array.from(value as ArrayLike<unknown>, (one) => (typeof one === "number" ? String(Math.fround(one)) : one))
          : value;
      }) ?? "null",
    );
  } catch (thrown) {
    // The text may name a character of the key, which is spelled otherwise here.
    return thrown instanceof ShoalError ? thrown.code : String(thrown);
  }
}

let printed = 0;

function expectPrinted({ vector, vectorJson }: Partial<SentObject>): void {
  if (!(vector instanceof Float32Array)) throw new Error("the text of a vector stands beside something else");
  expect(Buffer.from(vectorJson ?? "").toString()).toBe(float32ArrayToJson(vector));
  printed++;
}

/** The same body so spelled that nothing is cut out of it. */
const uncut = (text: string) => text.replaceAll('"vector"', '"\\u0076ector"');

describe(`bodies with their vectors cut out, seed ${SEED}`, () => {
  test("are read as they are without", () => {
    const random = seeded(SEED);
    let cuts = 0;
    for (let round = 0; round < 4_000; round++) {
      const text =
        random(2) === 0
          ? objectText(random)
          : `{"objects":[${Array.from({ length: random(4) }, () => objectText(random)).join(",")}]}`;
      const damaged = random(5) === 0 ? text.slice(0, random(text.length)) + text.slice(random(text.length)) : text;
      const read = damaged.startsWith('{"objects"') ? (bytes: Buffer) => readBatchBody(bytes, 1_000) : readObjectBody;
      if (cutVectors(Buffer.from(damaged)) !== undefined) cuts++;
      expect(cutVectors(Buffer.from(uncut(damaged)))).toBeUndefined();
      expect(
        outcome(() => read(Buffer.from(damaged))),
        damaged,
      ).toEqual(outcome(() => read(Buffer.from(uncut(damaged)))));
    }
    expect(cuts).toBeGreaterThan(1_000);
    expect(printed).toBeGreaterThan(50);
  });

  test("a vector of an object is read without the general parser, one in its properties is not", () => {
    const bytes = Buffer.from('{"vector":[0.1,2],"properties":{"vector":[1]}}');
    expect(readObjectBody(bytes)).toMatchObject({ vector: [0.1, 2], properties: { vector: [1] } });
    expect(readObjectBody(Buffer.from('{"vector":[0.1,2]}')).vector).toEqual(Float32Array.of(0.1, 2));
  });

  test("a string that looks like a mark is a string", () => {
    const mark = cutVectors(Buffer.from('{"vector":[1]}'))?.mark ?? "";
    expect(mark).not.toBe("");
    const bytes = Buffer.from(`{"objects":[{"vector":"${mark}0","properties":{}}]}`);
    expect(readBatchBody(bytes, 1)[0]?.vector).toBe(`${mark}0`);
  });
});
