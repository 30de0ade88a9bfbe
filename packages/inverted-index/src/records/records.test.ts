import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { type ColumnValue, columnValue, decodeColumnChunk, encodeColumnChunk } from "./column-chunk.js";
import {
  type Container,
  changedContainer,
  containerSize,
  decodeContainer,
  encodeContainer,
  OFFSETS_MAX,
  offsetsOf,
} from "./container.js";

const hex = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString("hex");

describe("containers, against Set", () => {
  it.each([1, 2, 3])("seed %i", (seed) => {
    const random = seededRandom(seed);
    const members = new Set<number>();
    let container: Container | undefined;
    for (let step = 0; step < 400; step++) {
      const below = random.pick([10, 300, 4096]);
      const touched = [...new Set(random.list(random.pick([1, 5, 600]), () => random.below(below)))];
      const adds = touched.filter(() => random.next() < (step % 20 < 12 ? 0.8 : 0.15));
      const removes = touched.filter((offset) => !adds.includes(offset));
      for (const offset of adds) members.add(offset);
      for (const offset of removes) members.delete(offset);
      container = changedContainer(container, adds, removes);
      expect(container === undefined ? [] : offsetsOf(container)).toEqual([...members].sort((a, b) => a - b));
      if (container === undefined) continue;
      expect(containerSize(container)).toBe(members.size);
      expect(decodeContainer(encodeContainer(container))).toEqual(container);
      expect(container instanceof Uint32Array).toBe(members.size > OFFSETS_MAX);
    }
  });

  it("stay as they are on disk", () => {
    expect(hex(encodeContainer(0x0abc))).toBe("01bc0a");
    expect(hex(encodeContainer(Uint16Array.of(1, 2, 4095)))).toBe("0101000200ff0f");
    const bitmap = changedContainer(
      undefined,
      Array.from({ length: 300 }, (_, at) => at),
      [],
    );
    expect(hex(encodeContainer(bitmap ?? 0))).toBe(`02${"ff".repeat(37)}0f${"00".repeat(474)}`);
  });

  it("what is none is told", () => {
    const wrong = ["", "01", "0100", "03bc0a", "010010", "0102000100", "0101000100", `01${"0000".repeat(257)}`, "02ff"];
    for (const bytes of wrong) expect(decodeContainer(Buffer.from(bytes, "hex")), bytes).toBeUndefined();
  });
});

describe("column chunks, against Map", () => {
  const decoded = (bytes: Uint8Array) => {
    const values = new Map<number, ColumnValue>();
    expect(decodeColumnChunk(bytes, (offset, value) => values.set(offset, value))).toBe(true);
    return values;
  };

  it.each([1, 2, 3])("seed %i", (seed) => {
    const random = seededRandom(seed);
    const pools = [
      [0, 1, 255],
      [-1, 256, 65_535],
      [1e12, 1e12 + 2 ** 32 - 1],
      [0, 2 ** 32],
      [0.5, -1e300, 5e-324],
      [2 ** 53, -(2 ** 53)],
    ];
    for (let round = 0; round < 500; round++) {
      const pool = random.pick(pools);
      const values = new Map<number, ColumnValue>();
      for (let offset = 0; offset < 128; offset++) {
        if (random.next() < 0.6) continue;
        const some = random.next() < 0.7 ? [random.pick(pool)] : random.list(4, () => random.pick(pool));
        const value = columnValue(some, random.next() < 0.1 ? some.map(() => random.below(1e6)) : []);
        if (value !== undefined) values.set(offset, value);
      }
      const bytes = encodeColumnChunk((offset) => values.get(offset));
      expect(bytes === undefined ? new Map() : decoded(bytes)).toEqual(values);
      if (bytes === undefined) continue;
      for (const cut of [bytes.subarray(1), bytes.subarray(0, -1)]) {
        // Shorter ones are refused, or at least read without a fault.
        decodeColumnChunk(cut, () => {});
      }
    }
  });

  it("may have more values than 65,535", () => {
    const many = Array.from({ length: 70_000 }, (_, at) => at);
    const bytes = encodeColumnChunk((offset) => (offset === 5 ? { values: many, rests: undefined } : undefined));
    expect(decoded(bytes ?? new Uint8Array()).get(5)).toEqual({ values: many, rests: undefined });
  });

  it("stay as they are on disk", () => {
    const chunk = (values: readonly ColumnValue[]) => hex(encodeColumnChunk((offset) => values[offset]));
    expect(chunk([7, 9])).toBe("00000200" + "0000000000001c40" + "0001" + "0002");
    expect(chunk([-1, 300])).toBe("01000200" + "000000000000f0bf" + "0001" + "0000" + "2d01");
    expect(chunk([0, 70_000])).toBe("02000200" + "0000000000000000" + "0001" + "00000000" + "70110100");
    expect(chunk([0.5])).toBe("03000100" + "00" + "000000000000e03f");
    expect(chunk([{ values: [5, 4], rests: [1, 0] }])).toBe(
      "00010200" + "0000000000001040" + "0000" + "0100" + "01000000" + "00000000",
    );
  });

  it("what is none is told", () => {
    const wrong = ["", "00", "04000100", "00020100", "0000020000000000000000000000", "030001008000000000000000e03f"];
    for (const bytes of wrong)
      expect(
        decodeColumnChunk(Buffer.from(bytes, "hex"), () => {}),
        bytes,
      ).toBe(false);
  });
});
