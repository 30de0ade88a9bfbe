import { JsonNumber, ShoalError } from "@shoal/model";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import { float32ArrayToJson } from "../json/float32.js";
import { MARK } from "../json/item-group.js";
import { readBatchBody } from "./batch-body.js";
import { readObjectBody, type SentObject } from "./object-body.js";

const SEED = Number(process.env.SHOAL_TEST_SEED ?? 20261120);

function vectorText(random: SeededRandom): string {
  const kinds = ["0.25", "-1", "1e-3", "0.1234567890123456789", "1E2", "-0.0", "3.4028235e38", " 7 ", "\n5"];
  const odd = ["1e39", '"x"', "null", "[1]", "01", "", "NaN", "1.", "true"];
  const numbers = Array.from({ length: random.below(6) }, () => random.pick(random.below(25) === 0 ? odd : kinds));
  return `[${numbers.join(",")}]`;
}

function objectText(random: SeededRandom): string {
  const text = random.pick(["plain", 'a \\"vector\\": [1,2] b', "vector", "\\\\", "ü€"]);
  const members = [
    `"class":${random.pick(['"Word"', "null", "5"])}`,
    `"${random.pick(["vector", "vector", "vector", "Vector"])}"${random.pick([":", " : ", ":\n"])}${vectorText(random)}`,
    `"properties":{"text":"${text}","n":${random.pick(["1", "1.0", "12345678901234567890", "1e2"])}${
      random.below(6) === 0 ? `,"vector":${vectorText(random)}` : ""
    }}`,
  ];
  if (random.below(8) === 0) members.push(`"vector":${vectorText(random)}`);
  return `{${members.slice(random.below(2)).join(",")}}`;
}

/**
 * What a body is read to, with vectors as plain numbers, or the error. The text of a vector stands beside it only where it
 * is what is printed: that is looked at here, and left out.
 */
async function outcome(read: () => Promise<unknown>): Promise<unknown> {
  try {
    return JSON.parse(
      JSON.stringify(await read(), function (this: Partial<SentObject>, key, value: unknown) {
        if (key === "vectorJson") {
          if (value !== undefined) expectPrinted(this);
          return undefined;
        }
        return key === "vector" && (Array.isArray(value) || value instanceof Float32Array)
          ? Array.from(value as ArrayLike<unknown>, (one) => {
              const number = one instanceof JsonNumber ? one.toNumber() : one;
              return typeof number === "number" ? String(Math.fround(number)) : one;
            })
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
  test("are read as they are without", async () => {
    const random = seededRandom(SEED);
    let cuts = 0;
    for (let round = 0; round < 4_000; round++) {
      const text =
        random.below(2) === 0
          ? objectText(random)
          : `{"objects":[${Array.from({ length: random.below(4) }, () => objectText(random)).join(",")}]}`;
      const damaged =
        random.below(5) === 0 ? text.slice(0, random.below(text.length)) + text.slice(random.below(text.length)) : text;
      const read = (body: string) =>
        damaged.startsWith('{"objects"')
          ? readBatchBody(Buffer.from(body), 1_000, {})
          : readObjectBody(Buffer.from(body), {});
      const whole = await outcome(() => read(uncut(damaged)));
      const isCut = (input: SentObject | undefined) => input?.vector instanceof Float32Array;
      const inputs = await read(damaged).catch(() => []);
      if ([inputs].flat().some(isCut)) cuts++;
      expect(await outcome(() => read(damaged)), damaged).toEqual(whole);
    }
    expect(cuts).toBeGreaterThan(1_000);
    expect(printed).toBeGreaterThan(50);
  });

  test("a vector of an object is read without the general parser, one in its properties is not", async () => {
    const bytes = Buffer.from('{"vector":[0.1,2],"properties":{"vector":[1]}}');
    const { vector, properties } = await readObjectBody(bytes, {});
    expect(vector).toEqual(Float32Array.of(0.1, 2));
    expect(properties).toEqual({ vector: [1] });
  });

  test("of a vector that is given twice the last one counts", async () => {
    const read = async (text: string) => (await readObjectBody(Buffer.from(text), {})).vector;
    expect(await read('{"vector":[1],"vector":[2]}')).toEqual(Float32Array.of(2));
    expect(await read('{"vector":[1],"VECTOR":[2]}')).toEqual([2]);
    expect(await read('{"VECTOR":[1],"vector":[2]}')).toEqual(Float32Array.of(2));
  });

  test("a string that looks like a mark is a string", async () => {
    for (const text of [`${MARK}n1.0`, `${MARK}v0`]) {
      const bytes = Buffer.from(`{"objects":[{"vector":"${text}","properties":{"a":"${text}"}}]}`);
      expect((await readBatchBody(bytes, 1, {}))[0]).toMatchObject({ vector: text, properties: { a: text } });
    }
  });
});
