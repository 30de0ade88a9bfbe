import type { GetQuery } from "@shoal/model";
import { describe, expect, it } from "vitest";
import { library } from "../testing/ask-library.js";
import { GraphQlStatistics } from "./plan-execution.js";

const get = (where: string) => `{ Get { Book(where: ${where}) { isbn } } }`;
const aggregate = (where: string) => `{ Aggregate { Book(where: ${where}) { meta { count } } } }`;

async function filterOf(text: string, variables?: object) {
  const { ask, query } = library();
  const response = await ask(text, variables);
  expect(response.errors).toBeNull();
  return (query.asked[0] as GetQuery).where;
}

async function refusalOf(text: string, variables?: object, limits?: object) {
  const { ask, query } = library(limits === undefined ? {} : { limits });
  const response = await ask(text, variables);
  expect(query.asked).toEqual([]);
  expect(response.errors).toHaveLength(1);
  return response;
}

describe("where", () => {
  it("reaches the query, from Get and Aggregate", async () => {
    const where = `{operator: And, operands: [
      {path: ["pages"], operator: GreaterThan, valueInt: 3000000000},
      {operator: Not, operands: {path: "title", operator: Like, valueText: "Tol*"}},
      {path: ["writtenBy", "Author", "name"], operator: Equal, valueString: "Leo"},
      {path: ["tags"], operator: ContainsAny, valueString: ["a", "b"]},
      {path: ["price"], operator: LessThanEqual, valueNumber: 5},
      {path: ["published"], operator: LessThan, valueDate: "1970-01-01T00:00:01+00:00"},
      {path: ["inPrint"], operator: IsNull, valueBoolean: false},
      {path: ["place"], operator: WithinGeoRange, valueGeoRange:
        {geoCoordinates: {latitude: 51.2, longitude: 6.7}, distance: {max: 2000}}}
    ]}`;
    const filter = {
      operator: "And",
      operands: [
        { operator: "GreaterThan", path: ["pages"], value: { kind: "int", values: [3_000_000_000] } },
        {
          operator: "Not",
          operands: [{ operator: "Like", path: ["title"], value: { kind: "text", values: ["Tol*"] } }],
        },
        { operator: "Equal", path: ["writtenBy", "Author", "name"], value: { kind: "string", values: ["Leo"] } },
        { operator: "ContainsAny", path: ["tags"], value: { kind: "string", values: ["a", "b"] } },
        { operator: "LessThanEqual", path: ["price"], value: { kind: "number", values: [5] } },
        { operator: "LessThan", path: ["published"], value: { kind: "date", values: [1_000_000_000n] } },
        { operator: "IsNull", path: ["inPrint"], value: { kind: "boolean", values: [false] } },
        {
          operator: "WithinGeoRange",
          path: ["place"],
          value: { kind: "geoRange", values: [{ latitude: 51.2, longitude: 6.7, distanceMax: 2000 }] },
        },
      ],
    };
    expect(await filterOf(get(where))).toEqual(filter);
    expect(await filterOf(aggregate(where))).toEqual(filter);
  });

  it("takes variables of one value, of lists, and as a whole", async () => {
    const equal = (values: readonly unknown[]) => ({
      operator: "Equal",
      path: ["pages"],
      value: { kind: "int", values },
    });
    const clause = '{path: ["pages"], operator: Equal, valueInt: $n}';
    expect(await filterOf(`query($n: Int) ${get(clause)}`, { n: 5 })).toEqual(equal([5]));
    expect(await filterOf(`query($n: Int!) ${get(clause)}`, { n: 5 })).toEqual(equal([5]));
    expect(await filterOf(`query($n: Int = 6) ${get(clause)}`)).toEqual(equal([6]));
    expect(await filterOf(`query($n: [Int]) ${get(clause)}`, { n: 5 })).toEqual(equal([5]));
    expect(await filterOf(`query($n: [Int!]!) ${get(clause)}`, { n: [5] })).toEqual(equal([5]));
    expect(await filterOf(`query($n: Int) ${get(clause)}`.replace("pages", "years"), { n: 2 ** 53 })).toEqual({
      ...equal([2 ** 53]),
      path: ["years"],
    });
    const path = get("{path: $p, operator: Equal, valueInt: 5}");
    expect(await filterOf(`query($p: String) ${path}`, { p: "pages" })).toEqual(equal([5]));
    expect(await filterOf(`query($p: [String]) ${path}`, { p: ["pages"] })).toEqual(equal([5]));
    const whole = `query($w: GetObjectsBookWhereInpObj) ${get("$w")}`;
    expect(await filterOf(whole, { w: { path: "pages", operator: "Equal", valueInt: 5 } })).toEqual(equal([5]));
    expect(await filterOf(whole, { w: null })).toBeUndefined();
    expect(await filterOf(whole, {})).toBeUndefined();
  });

  it("is one filter for Aggregate, whose values are not compared with data types and which knows `_id`", async () => {
    expect(await filterOf(aggregate('{path: ["title"], operator: Equal, valueString: "apple"}'))).toEqual({
      operator: "Equal",
      path: ["title"],
      value: { kind: "string", values: ["apple"] },
    });
    expect(await filterOf(aggregate('{path: ["_id"], operator: Equal, valueString: "x"}'))).toMatchObject({
      path: ["id"],
    });
  });
});

describe("a where that is refused when the query runs", () => {
  it("is shown with the integers that were written", async () => {
    for (const write of [get, aggregate]) {
      const clause = "{operator: Equal, valueInt: 9007199254740993}";
      expect((await refusalOf(write(clause))).errors[0].message).toBe(
        `invalid 'where' filter: the path is missing in clause '{"operator":"Equal","valueInt":9007199254740993}': it is a list such as ["name"]`,
      );
      const inner = "{operator: Or, operands: [{operator: Equal, valueInt: [1, -9223372036854775807]}]}";
      expect((await refusalOf(write(inner))).errors[0].message).toContain('"valueInt":[1,-9223372036854775807]}');
    }
    const read = '{path: ["pages"], operator: Equal, valueInt: 9007199254740993}';
    expect(await filterOf(get(read))).toMatchObject({ value: { kind: "int", values: [2 ** 53] } });
  });

  const unknown =
    "no such prop with name 'x' found in class 'Book' in the schema: it has title, isbn, pages, price, inPrint, published, " +
    "cover, place, phone, tags, …";
  const both: readonly (readonly [string, string])[] = [
    [
      "{}",
      "invalid 'where' filter: the operator is missing in clause {}: it is one of And, Or, Not, Equal, NotEqual, GreaterThan, GreaterThanEqual, LessThan, LessThanEqual, Like, WithinGeoRange, ContainsAny, ContainsAll, IsNull",
    ],
    [
      '{operator: Equal, path: "title", valueText: "a", valueString: "b"}',
      'invalid \'where\' filter: found two values, valueString and valueText, in clause \'{"operator":"Equal","path":["title"],"valueString":"b","valueText":"a"}\': a clause has one',
    ],
    [
      '{operator: Or, operands: {operator: Equal, path: ["a", "b"], valueInt: 5}}',
      "invalid 'where' filter: invalid 'path' field for filter " +
        '\'{"operator":"Equal","path":["a","b"],"valueInt":5}\': missing an argument after \'b\'',
    ],
    [
      '{operator: Equal, path: ["published"], valueDate: "yesterday"}',
      "invalid 'where' filter: the value 'yesterday' of valueDate is no RFC 3339 date such as 2017-07-21T17:32:28Z",
    ],
    ['{operator: Equal, path: ["x"], valueInt: 5}', `invalid 'where' filter: ${unknown}`],
  ];
  it.each(both)("%s", async (where, message) => {
    for (const [root, text] of [
      ["Get", get(where)],
      ["Aggregate", aggregate(where)],
    ] as const) {
      // Prepared or not, and whatever came before.
      const { ask, query } = library();
      for (let repeat = 0; repeat < 2; repeat++) {
        const { data, errors } = await ask(text);
        expect(data).toEqual({ [root]: { Book: null } });
        expect(errors).toEqual([{ locations: [{ line: 1, column: root.length + 6 }], message, path: [root, "Book"] }]);
      }
      expect(query.asked).toEqual([]);
    }
  });

  it("tells of types in Get, every operand", async () => {
    const wrong = '{path: ["title"], operator: Equal, valueString: "x"}';
    const { data, errors } = await refusalOf(get(`{operator: And, operands: [${wrong}, ${wrong}]}`));
    expect(data).toEqual({ Get: { Book: null } });
    const complaint = 'data type filter cannot use "valueString" on type "text", use "valueText" instead';
    expect(errors[0].message).toBe(
      `invalid 'where' filter: child operand at position 0: ${complaint}, child operand at position 1: ${complaint}`,
    );
  });

  it("leaves the other classes alone", async () => {
    const { ask } = library();
    const { data } = await ask("{ Get { Book(where: {}) { isbn } Author(limit: 1) { name } } }");
    expect(data).toEqual({ Get: { Book: null, Author: [{ name: "Leo" }] } });
  });

  it("is prepared again when its values are good", async () => {
    const statistics = new GraphQlStatistics();
    const { ask, query } = library({ statistics });
    const at = (date: string) => get(`{operator: Equal, path: ["published"], valueDate: "${date}"}`);
    expect((await ask(at("x"))).errors).toHaveLength(1);
    expect((await ask(at("2020-01-01T00:00:00Z"))).errors).toBeNull();
    expect((await ask(at("x"))).errors).toHaveLength(1);
    expect(query.asked).toHaveLength(1);
    expect(statistics).toMatchObject({ plain: 1, prepared: 2 });
  });

  it("has limits that can be set", async () => {
    const clause = '{path: ["pages"], operator: Equal, valueInt: 5}';
    const { errors } = await refusalOf(
      get(`{operator: Or, operands: [${clause}, ${clause}]}`),
      {},
      { filterClausesMax: 2 },
    );
    expect(errors[0].message).toBe(
      "invalid 'where' filter: the filter has more than 2 clauses (FILTER_CLAUSES_MAX): ask for less, or ask several times",
    );
  });
});

describe("a where that is no valid argument", () => {
  const rows: readonly (readonly [string, string])[] = [
    ['{valueInt: "5"}', 'In field "valueInt": Expected type "Int", found "5".'],
    ["{valueInt: 5.0}", 'In field "valueInt": Expected type "Int", found 5.0.'],
    ["{valueInt: [5, true]}", 'In field "valueInt": In element #1: Expected type "Int", found true.'],
    ["{valueString: 5}", 'In field "valueString": Expected type "String", found 5.'],
    ["{operator: Equals}", 'In field "operator": Expected type "GetObjectsBookWhereOperatorEnum", found Equals.'],
    ["{paths: 5}", 'In field "paths": Unknown field.'],
    [
      "{valueGeoRange: {distance: {max: 1}}}",
      'In field "valueGeoRange": In field "geoCoordinates": ' +
        'Expected "GetObjectsBookWhereGeoRangeGeoCoordinatesInpObj!", found null.',
    ],
  ];
  it.each(rows)("%s", async (where, complaint) => {
    const { data, errors } = await refusalOf(get(where));
    expect(data).toBeUndefined();
    expect(errors[0].message).toBe(`Argument "where" has invalid value ${where}.\n${complaint}`);
    expect(errors[0].path).toBeNull();
  });

  it("of variables neither", async () => {
    const of = (type: string, field: string) =>
      `query($v: ${type}) ${get(`{path: ["x"], operator: Equal, ${field}: $v}`)}`;
    const message = async (text: string, v: unknown) => (await refusalOf(text, { v })).errors[0].message;
    expect(await message(of("String", "valueInt"), "5")).toBe(
      'Variable "$v" of type "String" used in position expecting type "Int".',
    );
    expect(await message(of("[String]", "valueInt"), ["5"])).toBe(
      'Variable "$v" of type "[String]" used in position expecting type "[Int]".',
    );
    // Elsewhere one value does not fit a list, as GraphQL has it.
    const near = "query($v: Float!) { Get { Book(nearVector: {vector: $v}) { isbn } } }";
    expect(await message(near, 5)).toBe('Variable "$v" of type "Float!" used in position expecting type "[Float]!".');
  });
});
