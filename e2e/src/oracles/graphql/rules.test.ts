import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { readOracleArguments } from "./oracle-arguments.js";
import { isLike, patternsOf, tokensOf } from "./text-rules.js";
import { exactSum, goNumber, instantOf, metresBetween, shownDate, shownFloat32 } from "./value-rules.js";

describe("texts", () => {
  it("are cut as the reference cuts them", () => {
    expect(tokensOf("text", "But, the CAR-has x1.")).toEqual(["but", "the", "car", "has", "x1"]);
    expect(tokensOf("string", " New\u00a0York,\tUSA ")).toEqual(["New", "York,", "USA"]);
    expect(tokensOf("text", "e\u0301a ?!")).toEqual(["e", "a"]);
    expect(patternsOf("text", "Ca* e?g-*x")).toEqual(["ca*", "e?g", "*x"]);
  });

  it.each([
    ["car", "car", true],
    ["car", "c?r", true],
    ["car", "c*", true],
    ["car", "*", true],
    ["car", "car*", true],
    ["car", "ca", false],
    ["car", "?", false],
    ["", "*", true],
    ["𝄞", "?", true],
    ["abcabc", "*b?a*c", true],
    ["a.c", "a.c", true],
    ["abc", "a.c", false],
  ])("%s is like %s: %s", (token, pattern, result) => expect(isLike(token, pattern)).toBe(result));

  it("are like patterns as a regular expression says", () => {
    const chance = seededRandom(5);
    for (let round = 0; round < 2_000; round++) {
      const token = chance.list(6, () => chance.pick(["a", "b"])).join("");
      const pattern = chance.list(5, () => chance.pick(["a", "b", "?", "*"])).join("");
      const expression = new RegExp(`^${pattern.replaceAll("?", ".").replaceAll("*", ".*")}$`);
      expect(isLike(token, pattern), `${token} ${pattern}`).toBe(expression.test(token));
    }
  });
});

describe("values", () => {
  it("dates are instants, and shown without needless digits", () => {
    expect(instantOf("2020-01-01T01:00:00+01:00")).toBe(instantOf("2020-01-01T00:00:00Z"));
    expect(instantOf("1970-01-01T00:00:00.000000001Z")).toBe(1n);
    expect(instantOf("1969-12-31T23:59:59.5Z")).toBe(-500_000_000n);
    expect(instantOf("0001-01-01T00:00:00Z")).toBe(-62_135_596_800_000_000_000n);
    expect(shownDate("2017-07-21T17:32:28.120+00:00")).toBe("2017-07-21T17:32:28.12Z");
    expect(shownDate("2017-07-21T17:32:28.000-03:30")).toBe("2017-07-21T17:32:28-03:30");
  });

  it("places: Amsterdam is between 100 and 200 km from Düsseldorf, also around the antimeridian and the pole", () => {
    const metres = metresBetween({ latitude: 51.225556, longitude: 6.782778 }, { latitude: 52.366667, longitude: 4.9 });
    expect(metres).toBeGreaterThan(100_000);
    expect(metres).toBeLessThan(200_000);
    expect(metresBetween({ latitude: 0, longitude: 180 }, { latitude: 0, longitude: -180 })).toBeLessThan(1e-6);
    expect(metresBetween({ latitude: 90, longitude: 0 }, { latitude: 90, longitude: 120 })).toBeLessThan(1e-6);
    expect(metresBetween({ latitude: 90, longitude: 0 }, { latitude: -90, longitude: 0 })).toBeCloseTo(
      Math.PI * 6_371_000,
    );
    expect(shownFloat32(51.225556)).toBe(51.225555);
    expect(shownFloat32(52.366667)).toBe(52.36667);
  });

  it("numbers of groups are written as Go does", () => {
    expect([1, 2.5, 1e6, 999_999, 1234567.5, 1e-7, 0.0001, -42, 3e9].map(goNumber)).toEqual([
      "1",
      "2.5",
      "1e+06",
      "999999",
      "1.2345675e+06",
      "1e-07",
      "0.0001",
      "-42",
      "3e+09",
    ]);
  });

  it("sums are exact", () => {
    expect(exactSum([])).toBe(0);
    expect(exactSum([0.1, 0.2, 0.3])).toBe(0.6);
    expect(exactSum([1e21, 1, -1e21])).toBe(1);
    expect(exactSum([5e-324, 5e-324])).toBe(1e-323);
    expect(exactSum([-1.5, 2 ** 53, 1])).toBe(2 ** 53);
    expect(exactSum([2 ** 53, 1, 1])).toBe(2 ** 53 + 2);
    expect(exactSum([-(2 ** 60), 0.5])).toBe(-(2 ** 60));
  });
});

it("reads what stands behind npm run oracle", () => {
  expect(readOracleArguments([])).toMatchObject({ queries: 10_000, seed: undefined });
  expect(readOracleArguments(["--queries", "5", "--seed", "7", "--kinds", "get,near"])).toEqual({
    queries: 5,
    seed: 7,
    kinds: ["get", "near"],
    target: "process",
  });
  expect(readOracleArguments(["--target", "cluster"])).toMatchObject({ target: "cluster" });
  for (const words of [
    ["x"],
    ["--queries"],
    ["--queries", "0"],
    ["--seed", "a"],
    ["--kinds", "got"],
    ["--target", "x"],
  ]) {
    expect(readOracleArguments(words)).toBeUndefined();
  }
});
