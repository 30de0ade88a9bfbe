import { nanosecondsOf } from "@shoal/model";
import { plainNanoseconds } from "@shoal/model/testing/plain-filter";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { instantOf, instantOfNanoseconds } from "./instant.js";

describe("instants", () => {
  it("are those of the engine's own parser, to the nanosecond", () => {
    const random = seededRandom(9);
    const two = (below: number, from = 0) => String(from + random.below(below)).padStart(2, "0");
    for (let round = 0; round < 20_000; round++) {
      const year = random.pick([
        0,
        1,
        4,
        99,
        100,
        400,
        1600,
        1900,
        1969,
        1970,
        2000,
        2023,
        2024,
        9999,
        random.below(10_000),
      ]);
      const fraction =
        random.next() < 0.5 ? "" : `.${String(random.below(1e9)).padStart(9, "0")}${random.pick(["", "7", "123"])}`;
      const zone = random.pick(["Z", `+${two(24)}:${two(60)}`, `-${two(24)}:${two(60)}`]);
      const day = `${String(year).padStart(4, "0")}-${two(12, 1)}-${two(28, 1)}`;
      const text = `${day}T${two(24)}:${two(60)}:${two(60)}${fraction}${zone}`;
      const instant = instantOf(text);
      expect(nanosecondsOf(instant), text).toBe(plainNanoseconds(text));
      expect(instantOfNanoseconds(nanosecondsOf(instant))).toEqual(instant);
    }
    expect(nanosecondsOf(instantOf("2024-02-29T00:00:00Z"))).toBe(plainNanoseconds("2024-02-29T00:00:00Z"));
  });

  it("of what is no date there is none", () => {
    expect(() => instantOf("yesterday")).toThrow("'yesterday' is stored as a date and is none");
  });
});
