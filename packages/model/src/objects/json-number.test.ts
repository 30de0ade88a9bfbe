import { describe, expect, it } from "vitest";
import { int64Of, JsonNumber } from "./json-number.js";

describe("an int64", () => {
  it("is what BigInt says, around every power of ten and the bounds", () => {
    const bounds = [
      0n,
      2n ** 53n,
      2n ** 63n - 1n,
      2n ** 63n,
      2n ** 64n,
      10n ** 18n,
      10n ** 19n,
      10n ** 20n,
      10n ** 400n,
    ];
    for (const bound of bounds) {
      for (const sign of [1n, -1n]) {
        for (let near = -3n; near <= 3n; near++) {
          const exact = sign * bound + near;
          const isInt64 = exact >= -(2n ** 63n) && exact < 2n ** 63n;
          const expected = isInt64 ? Number(exact) : "value out of range";
          expect(int64Of(new JsonNumber(String(exact))), String(exact)).toBe(expected);
        }
      }
    }
  });

  it("has no sign of zero, and no other spelling", () => {
    expect(int64Of(-0)).toBe(0);
    expect(int64Of(new JsonNumber("-0"))).toBe(0);
    expect(int64Of(2 ** 60)).toBe(2 ** 60);
    for (const literal of ["1.0", "1e2", "1E400", "-1.5"])
      expect(int64Of(new JsonNumber(literal))).toBe("invalid syntax");
    for (const value of ["1", null, true, []]) expect(int64Of(value)).toBe("no number");
  });
});
