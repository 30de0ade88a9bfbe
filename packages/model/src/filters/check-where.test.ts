import { describe, expect, it } from "vitest";
import { type ClassDefinition, PRIMITIVE_DATA_TYPES } from "../schema/class-definition.js";
import { NO_MODULES } from "../schema/module-class-rules.js";
import { parseClass } from "../schema/parse-class.js";
import { invalidText } from "../testing/refusal.js";
import { SPEC_PROFILE } from "../wire-profile.js";
import { checkWhere, checkWherePaths, withoutIdAlias } from "./check-where.js";
import { parseWhere } from "./parse-where.js";

const settings = { profile: SPEC_PROFILE, defaultVectorizer: "none", nodeCount: 1, modules: NO_MODULES };
const CITY = parseClass({ class: "City", properties: [{ name: "name", dataType: ["string"] }] }, [], settings);
const GONE = parseClass({ class: "Gone" }, [], settings);
const AUTHOR = parseClass(
  {
    class: "Author",
    properties: [
      { name: "name", dataType: ["text"] },
      { name: "livesIn", dataType: ["City", "Gone"] },
    ],
  },
  [CITY, GONE],
  settings,
);
const BOOK = parseClass(
  {
    class: "Book",
    properties: [
      ...PRIMITIVE_DATA_TYPES.map((type) => ({ name: nameOf(type), dataType: [type] })),
      { name: "writtenBy", dataType: ["Author"] },
    ],
  },
  [AUTHOR],
  settings,
);
const CLASSES = new Map<string, ClassDefinition>([BOOK, AUTHOR, CITY].map((each) => [each.class, each]));
const classOf = (name: string) => CLASSES.get(name);

function nameOf(type: string): string {
  return `p_${type.replace("[]", "s")}`;
}

const VALUES = {
  valueInt: 5,
  valueNumber: 1.5,
  valueBoolean: true,
  valueString: "x",
  valueText: "x",
  valueDate: "2020-01-01T00:00:00Z",
  valueGeoRange: { geoCoordinates: { latitude: 1, longitude: 2 }, distance: { max: 3 } },
};
type Field = keyof typeof VALUES;
const FIELDS = Object.keys(VALUES) as Field[];

/** A clause of one comparison, by the operator that such a value needs. */
function clause(path: readonly string[], field: Field, operator?: string): object {
  return {
    operator: operator ?? (field === "valueGeoRange" ? "WithinGeoRange" : "Equal"),
    path,
    [field]: VALUES[field],
  };
}

const get = (where: object) => invalidText(() => checkWhere(parseWhere(where, "Book"), "Book", classOf));
const paths = (where: object) => invalidText(() => checkWherePaths(parseWhere(where, "Book"), "Book", classOf));

const UNKNOWN = (name: string, className: string) =>
  `no such prop with name '${name}' found in class '${className}' in the schema: it has ${KNOWN[className]}`;

const KNOWN: Readonly<Record<string, string>> = {
  Book: "p_string, p_text, p_int, p_number, p_boolean, p_date, p_geoCoordinates, p_phoneNumber, p_blob, p_strings, …",
  Author: "name, livesIn",
};

describe("types of values", () => {
  /** The table of reference-graphql 2.3: the one field of each type. */
  const FITTING: Readonly<Record<string, Field | undefined>> = {
    string: "valueString",
    text: "valueText",
    int: "valueInt",
    number: "valueNumber",
    boolean: "valueBoolean",
    date: "valueDate",
    geoCoordinates: "valueGeoRange",
    phoneNumber: undefined,
    blob: undefined,
    "string[]": "valueString",
    "text[]": "valueText",
    "int[]": "valueInt",
    "number[]": "valueNumber",
    "boolean[]": "valueBoolean",
    "date[]": "valueDate",
  };
  const rows = PRIMITIVE_DATA_TYPES.flatMap((type) => FIELDS.map((field) => [type, field] as const));
  it.each(rows)("%s with %s", (type, field) => {
    const fitting = FITTING[type];
    const use =
      fitting === undefined ? "properties of this type cannot be compared with anything" : `use "${fitting}" instead`;
    const text = `data type filter cannot use "${field}" on type "${type}", ${use}`;
    expect(get(clause([nameOf(type)], field))).toBe(fitting === field ? "accepted" : text);
    expect(paths(clause([nameOf(type)], field))).toBe("accepted");
  });

  it("do not matter to IsNull", () => {
    for (const type of PRIMITIVE_DATA_TYPES) {
      expect(get(clause([nameOf(type)], "valueBoolean", "IsNull"))).toBe("accepted");
    }
    expect(get(clause(["writtenBy"], "valueBoolean", "IsNull"))).toBe("accepted");
  });

  it("of references are numbers of them", () => {
    expect(get(clause(["writtenBy"], "valueInt", "GreaterThan"))).toBe("accepted");
    expect(get(clause(["writtenBy", "Author", "livesIn"], "valueInt"))).toBe("accepted");
    expect(get(clause(["writtenBy"], "valueText"))).toBe(
      'property "writtenBy" holds references to class "Author": compare their number by "valueInt", or a property of what ' +
        'they refer to by a path of three elements, ["writtenBy", "Author", <property>]',
    );
    expect(paths(clause(["writtenBy"], "valueText"))).toBe("accepted");
  });

  it("of special paths", () => {
    const id = 'using special path ["id"] to filter by uuid: must use "valueString" to specify the id';
    const time =
      'using special path ["_creationTimeUnix"] to filter by time: must use "valueInt" (milliseconds) or "valueDate"';
    for (const field of FIELDS) {
      for (const to of [["id"], ["writtenBy", "Author", "id"]]) {
        expect(get(clause(to, field))).toBe(field === "valueString" ? "accepted" : id);
        expect(paths(clause(to, field))).toBe("accepted");
      }
      const isTime = field === "valueInt" || field === "valueDate";
      expect(get(clause(["_creationTimeUnix"], field))).toBe(isTime ? "accepted" : time);
      expect(get(clause(["_lastUpdateTimeUnix"], field)) === "accepted").toBe(isTime);
    }
    for (const to of ["id", "_creationTimeUnix", "_lastUpdateTimeUnix"]) {
      expect(get(clause([to], "valueBoolean", "IsNull"))).toBe("accepted");
    }
    expect(get(clause(["_id"], "valueString"))).toBe(UNKNOWN("_id", "Book"));
    expect(paths(clause(["_id"], "valueString"))).toBe("accepted");
  });
});

describe("paths", () => {
  const rows: readonly (readonly [readonly string[], string])[] = [
    [["writtenBy", "Author", "name"], "accepted"],
    [["writtenBy", "author", "name"], "accepted"],
    [["nothing"], UNKNOWN("nothing", "Book")],
    [["writtenBy", "Author", "nothing"], UNKNOWN("nothing", "Author")],
    [["nothing", "Author", "name"], UNKNOWN("nothing", "Book")],
    [["nothing", "Author", "id"], UNKNOWN("nothing", "Book")],
    [["writtenBy", "Foo", "name"], "could not find class 'Foo' in the schema: create it with POST /v1/schema first"],
    [["writtenBy", "Foo", "id"], "could not find class 'Foo' in the schema: create it with POST /v1/schema first"],
    [
      ["writtenBy", "Foo", "livesIn", "City", "id"],
      "could not find class 'Foo' in the schema: create it with POST /v1/schema first",
    ],
    [
      ["writtenBy", "Author", "livesIn", "Gone", "name"],
      "could not find class 'Gone' in the schema: create it with POST /v1/schema first",
    ],
    [
      ["p_text", "Author", "name"],
      'property "p_text" of class "Book" is no reference: a path cannot go on to class "Author"',
    ],
    [["writtenBy", "City", "id"], 'reference property "writtenBy" of class "Book" does not point to class "City"'],
  ];
  it.each(rows)("%j", (path, text) => {
    const field = path.includes("City") ? "valueString" : path.at(-1) === "id" ? "valueString" : "valueText";
    expect(get(clause(path, field))).toBe(text);
    expect(paths(clause(path, field))).toBe(text);
  });

  it("may go along several references", () => {
    expect(get(clause(["writtenBy", "Author", "livesIn", "City", "name"], "valueString"))).toBe("accepted");
  });
});

describe("operands", () => {
  const good = clause(["p_int"], "valueInt");
  const bad = clause(["p_int"], "valueText");
  const complaint = 'data type filter cannot use "valueText" on type "int", use "valueInt" instead';

  it("are told one by one, with their places", () => {
    expect(get({ operator: "And", operands: [good, bad, clause(["x"], "valueInt")] })).toBe(
      `child operand at position 1: ${complaint}, child operand at position 2: ${UNKNOWN("x", "Book")}`,
    );
    expect(get({ operator: "Not", operands: [good, { operator: "Or", operands: [good, bad] }] })).toBe(
      `child operand at position 1: child operand at position 1: ${complaint}`,
    );
    expect(get({ operator: "And", operands: [good, good] })).toBe("accepted");
  });

  it("are told up to a bound", () => {
    const text = get({ operator: "And", operands: Array(400).fill({ operator: "Or", operands: [bad] }) });
    expect(text.split(", child").length).toBe(20);
  });
});

it("names the id as shards know it", () => {
  const where = parseWhere(
    {
      operator: "Or",
      operands: [
        clause(["_id"], "valueString"),
        clause(["writtenBy", "Author", "_id"], "valueString"),
        clause(["p_int"], "valueInt"),
      ],
    },
    "Book",
  );
  const named = withoutIdAlias(where);
  expect("operands" in named && named.operands.map((each) => "path" in each && each.path)).toEqual([
    ["id"],
    ["writtenBy", "Author", "id"],
    ["p_int"],
  ]);
});
