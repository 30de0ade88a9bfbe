import { describe, expect, it } from "vitest";
import { JsonNumber } from "../objects/json-number.js";
import { invalidText } from "../testing/refusal.js";
import { parseWhere } from "./parse-where.js";
import { COMBINE_OPERATORS, COMPARE_OPERATORS } from "./where-filter.js";
import { DEFAULT_WHERE_LIMITS, type WhereLimits } from "./where-limits.js";

const parse = (clause: unknown, limits = {}) => parseWhere(clause, "Book", { ...DEFAULT_WHERE_LIMITS, ...limits });
const textOf = (clause: unknown, limits = {}) => invalidText(() => parse(clause, limits));
const title = { operator: "Equal", path: ["title"], valueText: "x" };

describe("a clause that cannot be parsed is reported in the reference's words", () => {
  const rows: readonly (readonly [string, unknown, string])[] = [
    [
      "no operator",
      { path: ["title"] },
      'the operator is missing in clause {"path":["title"]}: it is one of And, Or, Not, Equal, NotEqual, GreaterThan, GreaterThanEqual, LessThan, LessThanEqual, Like, WithinGeoRange, ContainsAny, ContainsAll, IsNull',
    ],
    [
      "null for it",
      { path: ["b", "A"], operator: null },
      'the operator is missing in clause {"operator":null,"path":["b","A"]}: it is one of And, Or, Not, Equal, NotEqual, GreaterThan, GreaterThanEqual, LessThan, LessThanEqual, Like, WithinGeoRange, ContainsAny, ContainsAll, IsNull',
    ],
    ...COMBINE_OPERATORS.flatMap((operator) => [
      [
        `${operator} with path`,
        { path: ["title"], operator, operands: [title] },
        `a 'path' is given in clause '{"operands":[{"operator":"Equal","path":["title"],"valueText":"x"}],` +
          `"operator":"${operator}","path":["title"]}'; this is not allowed for a ${operator} clause`,
      ] as const,
      [
        `${operator} without operands`,
        { operator },
        `no operands are given in clause '{"operator":"${operator}"}': ${operator} needs a list of clauses`,
      ] as const,
      [
        `${operator} with no operand`,
        { operator, operands: [] },
        `the list of operands is empty in clause '{"operands":[],"operator":"${operator}"}': ${operator} needs at least one`,
      ] as const,
    ]),
    ...COMPARE_OPERATORS.map(
      (operator) =>
        [
          `${operator} with operands`,
          { operator, operands: [] },
          `a 'operands' is given in clause '{"operands":[],"operator":"${operator}"}'; ` +
            `this is not allowed for a ${operator} clause`,
        ] as const,
    ),
    [
      "no path",
      { operator: "Equal", valueInt: 5 },
      `the path is missing in clause '{"operator":"Equal","valueInt":5}': it is a list such as ["name"]`,
    ],
    [
      "no value",
      { operator: "Equal", path: ["a"] },
      `no value is given in clause '{"operator":"Equal","path":["a"]}': it needs one of valueInt, valueNumber, valueBoolean, valueString, valueText, valueDate, valueGeoRange`,
    ],
    [
      "an empty list for it",
      { operator: "ContainsAny", path: ["a"], valueInt: [] },
      `the list of values is empty in clause '{"operator":"ContainsAny","path":["a"],"valueInt":[]}'`,
    ],
    [
      "two values",
      { operator: "Equal", path: ["a"], valueString: "a<b>&c", valueInt: 1.5 },
      `found two values, valueInt and valueString, in clause '{"operator":"Equal","path":["a"],"valueInt":1.5,` +
        `"valueString":"a<b>&c"}': a clause has one`,
    ],
    [
      "a bad date",
      { operator: "Equal", path: ["a"], valueDate: "2020-01-01" },
      "the value '2020-01-01' of valueDate is no RFC 3339 date such as 2017-07-21T17:32:28Z",
    ],
    [
      "a bad operand",
      { operator: "And", operands: [title, { operator: "Not" }] },
      `no operands are given in clause '{"operator":"Not"}': Not needs a list of clauses`,
    ],
    ["an operand that is none", { operator: "And", operands: [null] }, "a clause must be an object, got null"],
    [
      "operands that are no list",
      { operator: "And", operands: 5 },
      `'operands' is no list in clause '{"operands":5,"operator":"And"}'`,
    ],
    [
      "an unknown operator",
      { operator: "Same" },
      `the operator 'Same' in clause '{"operator":"Same"}' is none of And, Or, Not, Equal, NotEqual, GreaterThan, ` +
        "GreaterThanEqual, LessThan, LessThanEqual, Like, WithinGeoRange, ContainsAny, ContainsAll, IsNull",
    ],
    [
      "a path that is no list",
      { operator: "Equal", path: "a" },
      `'path' is no list of strings in the filter '{"operator":"Equal","path":"a"}'`,
    ],
  ];
  it.each(rows)("%s", (_case, clause, text) => {
    expect(textOf(clause)).toBe(text);
  });

  const paths: readonly (readonly [readonly unknown[], string])[] = [
    [[], "missing an argument after 'Book'"],
    [["inCity", "City"], "missing an argument after 'City'"],
    [["inCity", "no class"], "missing an argument after 'no class'"],
    [["inCity", "no class", "name"], "Expected a valid class name in 'path' field for the filter but got 'no class'"],
    [["inCity", "Ünder", "name"], "Expected a valid class name in 'path' field for the filter but got 'Ünder'"],
    [["a b"], "Expected a valid property name in 'path' field for the filter, but got 'a b'"],
    [["a", "A", ""], "Expected a valid property name in 'path' field for the filter, but got ''"],
    [["a b", "A"], "Expected a valid property name in 'path' field for the filter, but got 'a b'"],
    [["a", 5, "b"], "element 1 is not a string"],
    [["x".repeat(256)], `Expected a valid property name in 'path' field for the filter, but got '${"x".repeat(256)}'`],
  ];
  it.each(paths)("path %j", (path, reason) => {
    const shown = JSON.stringify({ operator: "Equal", path, valueInt: 1 });
    expect(textOf({ operator: "Equal", path, valueInt: 1 })).toBe(
      `invalid 'path' field for filter '${shown}': ${reason}`,
    );
  });
});

describe("values", () => {
  const filterValue = (members: object, operator = "Equal") => {
    const filter = parse({ operator, path: ["p"], ...members });
    return "value" in filter ? filter.value : undefined;
  };

  it("have the kind of their field", () => {
    expect(filterValue({ valueInt: 5 })).toEqual({ kind: "int", values: [5] });
    expect(filterValue({ valueInt: -0 })).toEqual({ kind: "int", values: [0] });
    expect(filterValue({ valueInt: new JsonNumber("9223372036854775807") })).toEqual({
      kind: "int",
      values: [2 ** 63],
    });
    expect(filterValue({ valueInt: -(2n ** 63n) })).toEqual({ kind: "int", values: [-(2 ** 63)] });
    expect(filterValue({ valueInt: 2 ** 63 })).toEqual({ kind: "int", values: [2 ** 63] });
    expect(filterValue({ valueNumber: -0 })).toEqual({ kind: "number", values: [0] });
    expect(filterValue({ valueNumber: new JsonNumber("1.0") })).toEqual({ kind: "number", values: [1] });
    expect(filterValue({ valueBoolean: false })).toEqual({ kind: "boolean", values: [false] });
    expect(filterValue({ valueString: "" })).toEqual({ kind: "string", values: [""] });
    expect(filterValue({ valueText: "a b" }, "Like")).toEqual({ kind: "text", values: ["a b"] });
    expect(filterValue({ valueText: "x", valueInt: null })).toEqual({ kind: "text", values: ["x"] });
    expect(filterValue({ valueDate: "1970-01-01T01:00:00.000000001+01:00" })).toEqual({ kind: "date", values: [1n] });
    const valueGeoRange = { geoCoordinates: { latitude: 51.5, longitude: -0 }, distance: { max: 2000 } };
    expect(filterValue({ valueGeoRange }, "WithinGeoRange")).toEqual({
      kind: "geoRange",
      values: [{ latitude: 51.5, longitude: 0, distanceMax: 2000 }],
    });
    expect(filterValue({ valueBoolean: true }, "IsNull")).toEqual({ kind: "boolean", values: [true] });
  });

  it("may be several for ContainsAny and ContainsAll alone", () => {
    expect(filterValue({ valueInt: [1, 2, 3] }, "ContainsAny")).toEqual({ kind: "int", values: [1, 2, 3] });
    expect(filterValue({ valueString: ["a"] }, "ContainsAll")).toEqual({ kind: "string", values: ["a"] });
    expect(filterValue({ valueString: "a" }, "ContainsAll")).toEqual({ kind: "string", values: ["a"] });
    expect(filterValue({ valueString: ["a"] })).toEqual({ kind: "string", values: ["a"] });
    expect(textOf({ operator: "Equal", path: ["p"], valueInt: [1, 2] })).toBe(
      `2 values are given in clause '{"operator":"Equal","path":["p"],"valueInt":[1,2]}'; ` +
        "only ContainsAny and ContainsAll take several, Equal takes one",
    );
  });

  const wrong: readonly (readonly [object, string])[] = [
    [{ valueInt: 1.5 }, "the value '1.5' of valueInt in filter '<J>' is no 64-bit integer"],
    [{ valueInt: "5" }, "the value '5' of valueInt in filter '<J>' is no 64-bit integer"],
    [{ valueInt: 2 ** 64 }, "the value '18446744073709552000' of valueInt in filter '<J>' is no 64-bit integer"],
    [
      { valueInt: new JsonNumber("9223372036854775808") },
      "the value '9223372036854775808' of valueInt in filter '<J>' is no 64-bit integer",
    ],
    [{ valueNumber: new JsonNumber("1e400") }, "the value '1e400' of valueNumber in filter '<J>' is no number"],
    [{ valueBoolean: 1 }, "the value '1' of valueBoolean in filter '<J>' is no boolean"],
    [{ valueString: 5 }, "the value '5' of valueString in filter '<J>' is no string"],
    [{ valueText: {} }, "the value '{}' of valueText in filter '<J>' is no string"],
    [{ valueDate: 5 }, "the value '5' of valueDate is no RFC 3339 date such as 2017-07-21T17:32:28Z"],
    [
      { valueGeoRange: { geoCoordinates: { latitude: 1 }, distance: { max: 1 } } },
      `the value '{"geoCoordinates":{"latitude":1},"distance":{"max":1}}' of valueGeoRange in filter '<J>' is no range: ` +
        "it needs the numbers geoCoordinates.latitude, geoCoordinates.longitude and distance.max",
    ],
    [geo(90.5, 0, 1), "latitude of valueGeoRange must be between -90 and 90, got 90.5"],
    [geo(0, -181, 1), "longitude of valueGeoRange must be between -180 and 180, got -181"],
    [geo(0, 0, -1), "distance.max of valueGeoRange is in metres, at least 0, got -1"],
  ];
  it.each(wrong)("%j are refused", (members, text) => {
    const clause = { operator: "Equal", path: ["p"], ...members };
    expect(textOf(clause).replace(/filter '\{.*\}'/, "filter '<J>'")).toBe(text);
  });

  it("must be of use to the operator", () => {
    const misuse = (operator: string, members: object) =>
      textOf({ operator, path: ["p"], ...members }).replace(/clause '.*'/, "clause '<J>'");
    expect(misuse("Like", { valueInt: 5 })).toBe(
      `operator Like cannot use "valueInt" in clause '<J>', use "valueString" or "valueText" instead`,
    );
    expect(misuse("IsNull", { valueText: "true" })).toBe(
      `operator IsNull cannot use "valueText" in clause '<J>', use "valueBoolean" instead`,
    );
    expect(misuse("WithinGeoRange", { valueNumber: 5 })).toBe(
      `operator WithinGeoRange cannot use "valueNumber" in clause '<J>', use "valueGeoRange" instead`,
    );
    expect(misuse("Equal", geo(1, 2, 3))).toBe(
      `operator Equal cannot use "valueGeoRange" in clause '<J>', WithinGeoRange is the operator for it`,
    );
  });
});

describe("limits", () => {
  const nested = (depth: number): unknown => (depth === 1 ? title : { operator: "Not", operands: [nested(depth - 1)] });
  const many = (count: number, clause: unknown) => ({
    operator: "Or",
    operands: Array.from({ length: count }, () => clause),
  });
  const deep = { ...title, path: ["a", "A", "b", "B", "c"] };
  const rows: readonly (readonly [keyof WhereLimits, string, (count: number) => unknown])[] = [
    ["filterDepthMax", "clauses inside of one another: ask for less, or ask several times", nested],
    [
      "filterClausesMax",
      "clauses (FILTER_CLAUSES_MAX): ask for less, or ask several times",
      (count) => many(count - 1, title),
    ],
    [
      "filterReferencesMax",
      "references in all paths: ask for less, or ask several times",
      (count) => many(count / 2, deep),
    ],
    [
      "filterValuesMax",
      "values (FILTER_VALUES_MAX): ask for less, or ask several times",
      (count) => many(2, { operator: "ContainsAny", path: ["a"], valueInt: Array(count / 2).fill(1) }),
    ],
    [
      "filterTextCharsMax",
      "characters of text: ask for less, or ask several times",
      (count) => many(2, { ...title, valueText: "x".repeat(count / 2) }),
    ],
  ];
  it.each(rows)("%s", (limit, what, make) => {
    const limits = { [limit]: 7 };
    const fits = limit === "filterDepthMax" || limit === "filterClausesMax" ? 7 : 6;
    expect(textOf(make(fits), limits)).toBe("accepted");
    expect(textOf(make(8), limits)).toBe(`the filter has more than 7 ${what}`);
  });

  it("hold for messages, whatever the clause holds", () => {
    const clause = many(900, { ...title, path: ["a b"], valueText: "x".repeat(100) });
    expect(textOf({ ...clause, path: ["x"] }).length).toBeLessThan(700);
    expect(textOf({ ...title, path: ["\u0000".repeat(100_000)] }).length).toBeLessThan(1_200);
  });
});

function geo(latitude: number, longitude: number, max: number) {
  return { valueGeoRange: { geoCoordinates: { latitude, longitude }, distance: { max } } };
}
