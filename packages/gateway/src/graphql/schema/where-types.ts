import { COMBINE_OPERATORS, COMPARE_OPERATORS, WHERE_TYPE_SUFFIXES } from "@shoal/model";
import {
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLInputFieldConfig,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
} from "graphql";
import { FloatType, IntType } from "./scalars.js";

/**
 * Lists of a filter. One value stands for a list of it, as GraphQL has it for literals; here for variables, too: clients
 * pass `$name: String` to `valueString`, which takes a list only since ContainsAny and ContainsAll exist.
 */
const INTS = new GraphQLList(IntType);
const NUMBERS = new GraphQLList(FloatType);
const BOOLEANS = new GraphQLList(GraphQLBoolean);
const STRINGS = new GraphQLList(GraphQLString);

/** The list types that accept a variable of one value. */
export const LENIENT_LISTS: ReadonlySet<unknown> = new Set([INTS, NUMBERS, BOOLEANS, STRINGS]);

/** What the names of the types of filters and searches of `Get.<Class>` begin with (reference-graphql 2.1). */
export function getTypePrefix(className: string): string {
  return `GetObjects${className}`;
}

/** The same of `Aggregate.<Class>` (reference-graphql 4.1). */
export function aggregateWherePrefix(className: string): string {
  return `AggregateObjects${className}`;
}

/** All types that {@link whereInput} makes. */
export function whereTypeNames(prefix: string): readonly string[] {
  return WHERE_TYPE_SUFFIXES.map((suffix) => prefix + suffix);
}

const OPERATORS = Object.fromEntries(
  [...COMBINE_OPERATORS, ...COMPARE_OPERATORS].map((name) => [name, { value: name }]),
);

/** The input type of a `where` argument; the names of all its types begin with `prefix` (reference-graphql 2.1, 2.3). */
export function whereInput(prefix: string): GraphQLInputObjectType {
  // Only when they are asked for: a thousand classes have two thousand of these.
  const operator = new GraphQLEnumType({ name: `${prefix}WhereOperatorEnum`, values: () => OPERATORS });
  const geoRange = geoRangeInput(prefix);
  const clauseFields = (): Record<string, GraphQLInputFieldConfig> => ({
    operator: { type: operator, description: "How the values of the path, or the operands, are compared or combined." },
    path: {
      type: STRINGS,
      description: "A property, or a reference, its class, and so on, and a property of the last class.",
    },
    operands: { type: operands, description: "The clauses that And, Or and Not combine." },
    valueInt: { type: INTS, description: "For int, numbers of references and times in milliseconds." },
    valueNumber: { type: NUMBERS, description: "For number." },
    valueBoolean: { type: BOOLEANS, description: "For boolean, and whether the property IsNull." },
    valueString: { type: STRINGS, description: "For string and id; words as they are, Like with * and ?." },
    valueText: { type: STRINGS, description: "For text; words in lower case, Like with * and ?." },
    valueDate: { type: STRINGS, description: "For date, as RFC 3339 has it, with an offset." },
    valueGeoRange: { type: geoRange, description: "For geoCoordinates, with WithinGeoRange." },
  });
  const operands = new GraphQLList(
    new GraphQLInputObjectType({ name: `${prefix}WhereOperandsInpObj`, fields: clauseFields }),
  );
  return new GraphQLInputObjectType({ name: `${prefix}WhereInpObj`, fields: clauseFields });
}

function geoRangeInput(prefix: string): GraphQLInputObjectType {
  const degrees = new GraphQLNonNull(FloatType);
  return new GraphQLInputObjectType({
    name: `${prefix}WhereGeoRangeInpObj`,
    fields: {
      geoCoordinates: {
        description: "The middle of the circle, in degrees.",
        type: new GraphQLNonNull(
          new GraphQLInputObjectType({
            name: `${prefix}WhereGeoRangeGeoCoordinatesInpObj`,
            fields: { latitude: { type: degrees }, longitude: { type: degrees } },
          }),
        ),
      },
      distance: {
        description: "How far from there.",
        type: new GraphQLNonNull(
          new GraphQLInputObjectType({
            name: `${prefix}WhereGeoRangeDistanceInpObj`,
            fields: { max: { type: degrees, description: "In metres." } },
          }),
        ),
      },
    },
  });
}
