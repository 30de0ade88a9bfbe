import { seededRandom } from "@shoal/seeded-random";
import { expect, it } from "vitest";
import { ShoalError } from "../errors/shoal-error.js";
import { JsonNumber } from "../objects/json-number.js";
import { checkWhere, checkWherePaths, withoutIdAlias } from "./check-where.js";
import { FIELD_OF_KIND, VALUE_FIELDS } from "./parse-filter-value.js";
import { parseWhere } from "./parse-where.js";
import { COMBINE_OPERATORS, COMPARE_OPERATORS, type FilterValue, type WhereFilter } from "./where-filter.js";

const SEED = Number(process.env.SHOAL_FUZZ_SEED ?? 20_211_130);

/** A clause that means `filter`. */
function clauseOf(filter: WhereFilter): unknown {
  if ("operands" in filter) return { operator: filter.operator, operands: filter.operands.map(clauseOf) };
  const values = (filter.value.values as readonly unknown[]).map((value) => written(filter.value.kind, value));
  return {
    operator: filter.operator,
    path: filter.path,
    [FIELD_OF_KIND[filter.value.kind]]: values.length === 1 ? values[0] : values,
  };
}

function written(kind: FilterValue["kind"], value: unknown): unknown {
  if (kind === "date") return instantText(value as bigint);
  if (kind !== "geoRange") return value;
  const { latitude, longitude, distanceMax } = value as Extract<FilterValue, { kind: "geoRange" }>["values"][number];
  return { distance: { max: distanceMax }, geoCoordinates: { latitude, longitude } };
}

function instantText(nanoseconds: bigint): string {
  const seconds = nanoseconds / 1_000_000_000n - (nanoseconds % 1_000_000_000n < 0n ? 1n : 0n);
  const fraction = nanoseconds - seconds * 1_000_000_000n;
  return `${new Date(Number(seconds) * 1000).toISOString().slice(0, 19)}.${String(fraction).padStart(9, "0")}Z`;
}

it(`answers anything with a filter or a ShoalError, and a filter is what it says (seed ${SEED})`, () => {
  const { below, pick } = seededRandom(SEED);
  const scalars = [
    ...[null, true, false, 0, -0, 5, -1.5, 2 ** 53, 2 ** 63, 1e300, Number.NaN, 10n, 2n ** 64n, new JsonNumber("1.0")],
    ...[
      "",
      "x",
      "War and Peace",
      "2020-01-01T00:00:00.123456789+01:00",
      "1969-12-31T23:59:59.9Z",
      "2020-13-01",
      "\ud800",
    ],
  ];
  const range = () => ({
    geoCoordinates: { latitude: pick([0, 90, -90.5, "x"]), longitude: pick([-180, 6.7, 181]) },
    distance: pick([{ max: 5 }, { max: -1 }, null, { max: 0 }]),
  });
  const value = (): unknown => (below(8) === 0 ? range() : pick(scalars));
  const fittingValue = (field: (typeof VALUE_FIELDS)[number]): unknown => {
    if (field === "valueGeoRange") return range();
    if (field === "valueBoolean") return below(2) === 0;
    if (field === "valueInt" || field === "valueNumber") return pick([0, -0, 5, -1, 2 ** 63, new JsonNumber("12")]);
    return pick(["2020-01-01T00:00:00.123456789+01:00", "1969-12-31T23:59:59.9Z", "0001-01-01T00:00:00Z"]);
  };
  const clause = (depth: number): unknown => {
    if (below(30) === 0) return pick([null, [], 5, "x", {}]);
    const isCombined = depth > 0 && below(3) === 0;
    const operator = below(40) === 0 ? value() : pick<string>(isCombined ? COMBINE_OPERATORS : COMPARE_OPERATORS);
    const result: Record<string, unknown> = { operator };
    if (isCombined)
      result.operands = Array.from({ length: below(20) === 0 ? 0 : 1 + below(3) }, () => clause(depth - 1));
    else {
      const field =
        operator === "WithinGeoRange" ? "valueGeoRange" : operator === "IsNull" ? "valueBoolean" : pick(VALUE_FIELDS);
      const isSeveral = below(8) === 0;
      const make = () => (below(12) === 0 ? value() : fittingValue(field));
      result.path =
        below(20) === 0 ? value() : pick([["a"], ["a", "B", "c"], ["id"], ["_id"], ["a", "b", "c"], ["a", "B"], []]);
      result[field] = isSeveral ? [make(), make()] : make();
    }
    if (below(30) === 0) result[pick(["path", "operands", "valueInt", "__proto__", "other"])] = value();
    return result;
  };
  let accepted = 0;
  for (let round = 0; round < 30_000; round++) {
    const given = clause(4);
    try {
      const filter = parseWhere(given, "Root");
      accepted++;
      expect(parseWhere(clauseOf(filter), "Root")).toEqual(filter);
      expect(withoutIdAlias(withoutIdAlias(filter))).toEqual(withoutIdAlias(filter));
      for (const check of [checkWhere, checkWherePaths]) expectRefusal(() => check(filter, "Root", () => undefined));
    } catch (error) {
      if (!(error instanceof ShoalError)) throw error;
      expect(error.code).toBe("invalid");
      expect(error.message.length).toBeLessThan(2_500);
    }
  }
  expect(accepted).toBeGreaterThan(3_000);
  expect(Object.keys(Object.prototype)).toEqual([]);
});

function expectRefusal(run: () => void): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof ShoalError) || error.code !== "invalid") throw error;
  }
}
