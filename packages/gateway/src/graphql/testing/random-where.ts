import type { SeededRandom } from "@shoal/seeded-random";

/** Writes a value of a type as a literal, or as a variable that holds it. */
export type ValueWriter = (type: string, literal: () => string) => string;

/**
 * Writes `where` arguments over the class Book of the library: mostly valid ones of every operator and type, and
 * mistakes of every kind.
 */
export class WhereGenerator {
  constructor(
    private readonly random: SeededRandom,
    private readonly value: ValueWriter,
  ) {}

  clause(depth = 0): string {
    const dice = this.random.next();
    if (dice < 0.3 && depth < 3) return this.combined(depth);
    if (dice < 0.34) return this.random.pick(MISTAKES);
    if (dice < 0.37) return this.value("GetObjectsBookWhereOperandsInpObj", () => this.compared());
    return this.compared();
  }

  private combined(depth: number): string {
    const operands = Array.from({ length: 1 + this.random.below(3) }, () => this.clause(depth + 1));
    const list = operands.length === 1 && this.random.next() < 0.3 ? operands[0] : `[${operands.join(this.space())}]`;
    return `{operator:${this.space()}${this.random.pick(["And", "Or", "Not"])}, operands: ${list}}`;
  }

  private compared(): string {
    const [property, field, type, literals] = this.random.pick(this.random.next() < 0.94 ? COMPARISONS : MISMATCHES);
    const isText = type === "String" && field !== "valueDate";
    const operators = [
      ...["Equal", "NotEqual", "GreaterThan", "GreaterThanEqual", "LessThan", "LessThanEqual"],
      ...(isText ? ["Like"] : []),
    ];
    const several = this.random.next() < 0.15;
    let operator = several ? this.random.pick(["ContainsAny", "ContainsAll", "Equal"]) : this.random.pick(operators);
    if (field === "valueGeoRange" && this.random.next() < 0.95) operator = "WithinGeoRange";
    if (field === "valueBoolean" && this.random.next() < 0.4) operator = "IsNull";
    const one = () => this.value(type, () => this.literal(literals));
    const value = several ? `[${one()}${this.random.pick([", ", " "])}${one()}]` : one();
    const members = [`path: ${this.path(property)}`, `operator: ${operator}`, `${field}: ${value}`];
    if (this.random.next() < 0.3) members.reverse();
    return `{${members.join(this.random.pick([", ", " ", ",\n", " # why\n"]))}}`;
  }

  private path(property: string): string {
    const segments = property.split("/").map((segment) => JSON.stringify(segment));
    const list = `[${segments.join(this.random.pick([", ", " "]))}]`;
    if (segments.length > 1 || this.random.next() < 0.6)
      return this.random.next() < 0.95 ? list : this.value("[String]", () => list);
    return this.value("String", () => segments[0] ?? '""');
  }

  private literal(literals: readonly string[]): string {
    return this.random.next() < 0.97 ? this.random.pick(literals) : this.random.pick(ODD_LITERALS);
  }

  private space(): string {
    return this.random.pick(["", " ", ", ", "\n"]);
  }
}

type Comparison = readonly [path: string, field: string, type: string, literals: readonly string[]];

const INTS = ["0", "-0", "7", "-3", "3000000000", "999999999999999", "9007199254740993", "9223372036854775807"];
const FLOATS = ["0.5", "-0", "-0.0", "1", "1e300", "-1E-7", "0.123456789012345678"];
const TEXTS = ['""', '"x"', '"War and Peace"', '"ünï 🐟"', '"a<b>&c"', '"*"', '"Tol*"', '"?"'];
const DATES = [
  ...['"2020-01-01T00:00:00Z"', '"0001-01-01T00:00:00.123456789+05:30"', '"9999-12-31T23:59:59-00:00"'],
  ...['"2020-02-30T00:00:00Z"', '"2020-01-01"', '""'],
];
const RANGES = [
  "{geoCoordinates: {latitude: 51.2, longitude: 6.7}, distance: {max: 1000}}",
  "{geoCoordinates: {latitude: -0, longitude: 180}, distance: {max: 0.5}}",
  "{distance: {max: -1}, geoCoordinates: {latitude: 1, longitude: 2}}",
  "{geoCoordinates: {latitude: 90.5, longitude: 2}, distance: {max: 1}}",
  "{geoCoordinates: {latitude: 5, longitude: -181}, distance: {max: 1}}",
  "{geoCoordinates: {latitude: 5}, distance: {max: 1}}",
];

const COMPARISONS: readonly Comparison[] = [
  ["title", "valueText", "String", TEXTS],
  ["isbn", "valueString", "String", TEXTS],
  ["tags", "valueString", "String", TEXTS],
  ["pages", "valueInt", "Int", INTS],
  ["years", "valueInt", "Int", INTS],
  ["price", "valueNumber", "Float", FLOATS],
  ["ratings", "valueNumber", "Float", FLOATS],
  ["inPrint", "valueBoolean", "Boolean", ["true", "false"]],
  ["published", "valueDate", "String", DATES],
  ["writtenBy", "valueInt", "Int", INTS],
  ["writtenBy/Author/name", "valueString", "String", TEXTS],
  ["id", "valueString", "String", ['"01010101-0101-0101-0101-010101010101"']],
  ["_creationTimeUnix", "valueInt", "Int", INTS],
  ["_lastUpdateTimeUnix", "valueDate", "String", DATES],
  ["place", "valueGeoRange", "GetObjectsBookWhereGeoRangeInpObj", RANGES],
];

const MISMATCHES: readonly Comparison[] = [
  ["title", "valueString", "String", TEXTS],
  ["pages", "valueNumber", "Float", FLOATS],
  ["phone", "valueText", "String", TEXTS],
  ["nothing", "valueInt", "Int", INTS],
  ["writtenBy/Author", "valueString", "String", TEXTS],
  ["writtenBy/Shelf_2/name", "valueString", "String", TEXTS],
  ["_id", "valueString", "String", TEXTS],
  ["bad name", "valueString", "String", TEXTS],
  ["place", "valueBoolean", "Boolean", ["true"]],
];

const ODD_LITERALS = ["null", "[]", '"5"', "5.0", "true", "{}", "99999999999999999999", '"""x"""', '"a\\"b"', "Equal"];

const MISTAKES = [
  '{path: ["price"], operator: IsNull, valueBoolean: true}',
  '{path: "pages", operator: ContainsAny, valueInt: [1, 2, 3]}',
  "{}",
  "null",
  "[]",
  "{operator: And}",
  "{operator: And, operands: []}",
  '{operator: Or, path: ["x"], operands: [{}]}',
  "{operator: Equal, operands: [{}]}",
  "{operator: Equal, valueInt: 5}",
  "{operator: Equal, path: [], valueInt: 5}",
  '{operator: Equal, path: ["pages", 5], valueInt: 5}',
  '{operator: Equal, path: ["pages"]}',
  '{operator: Equal, path: ["pages"], valueInt: 5, valueNumber: 5}',
  '{operator: Equal, path: ["pages"], valueInt: null, valueNumber: 5}',
  '{operator: Equals, path: ["pages"], valueInt: 5}',
  '{operator: Equal, paths: ["pages"], valueInt: 5}',
  '{operator: Like, path: ["pages"], valueInt: 5}',
];
