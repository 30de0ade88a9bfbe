import { aggregatedKind, type ClassDefinition, type PropertyAggregate, type PropertyDefinition } from "@shoal/model";
import {
  type GraphQLFieldConfig,
  type GraphQLFieldConfigArgumentMap,
  GraphQLList,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLString,
} from "graphql";
import { isFieldName, plainObject } from "./object-types.js";
import { FloatType, IntType } from "./scalars.js";
import { classTypeNames, propertyTypeNames } from "./type-names.js";
import { aggregateWherePrefix, whereInput } from "./where-types.js";

const STRINGS = new GraphQLList(GraphQLString);

/** The figures of each kind of value; `topOccurrences`, `type` and `pointingTo` aside. */
const VALUES: Readonly<Record<PropertyAggregate["kind"], Readonly<Record<string, GraphQLOutputType>>>> = {
  numbers: {
    count: IntType,
    minimum: FloatType,
    maximum: FloatType,
    mean: FloatType,
    median: FloatType,
    mode: FloatType,
    sum: FloatType,
  },
  texts: { count: IntType },
  booleans: {
    count: IntType,
    totalTrue: IntType,
    totalFalse: IntType,
    percentageTrue: FloatType,
    percentageFalse: FloatType,
  },
  dates: { count: IntType, minimum: GraphQLString, maximum: GraphQLString },
  references: {},
};

/**
 * The object type `Aggregate<Class>` (reference-graphql 4.1, 4.2). `isKnown` is asked when the schema is put together: a
 * reference without a living target vanishes.
 */
export function aggregatedClassType(
  definition: ClassDefinition,
  isKnown: (className: string) => boolean,
): GraphQLObjectType {
  const { class: className } = definition;
  const names = classTypeNames(className);
  return new GraphQLObjectType({
    name: names.aggregated,
    fields: () => {
      const fields: Record<string, GraphQLFieldConfig<unknown, unknown>> = {};
      for (const property of definition.properties ?? []) {
        const kind = aggregatedKind(property.dataType);
        if (kind === undefined || !isFieldName(property.name)) continue;
        if (kind === "references" && !property.dataType.some(isKnown)) continue;
        fields[property.name] = {
          ...(property.description === undefined ? {} : { description: property.description }),
          type: propertyType(className, property, kind),
        };
      }
      // Last, so that they win over properties of their names.
      fields.meta = { type: plainObject(names.aggregateMeta, { count: IntType }) };
      fields.groupedBy = { type: plainObject(names.groupedBy, { path: STRINGS, value: GraphQLString }) };
      return fields;
    },
  });
}

/** Arguments of `Aggregate.<Class>`. */
export function aggregateArguments(className: string): GraphQLFieldConfigArgumentMap {
  return {
    where: { type: whereInput(aggregateWherePrefix(className)) },
    groupBy: { type: STRINGS },
    limit: { type: IntType },
  };
}

function propertyType(className: string, { name }: PropertyDefinition, kind: PropertyAggregate["kind"]) {
  const names = propertyTypeNames(className, name);
  const fields: Record<string, GraphQLFieldConfig<unknown, unknown>> = {};
  for (const [field, type] of Object.entries(VALUES[kind])) fields[field] = { type };
  if (kind !== "dates") fields.type = { type: GraphQLString };
  if (kind === "references") fields.pointingTo = { type: STRINGS };
  if (kind === "texts") {
    const type = new GraphQLList(plainObject(names.topOccurrences, { value: GraphQLString, occurs: IntType }));
    fields.topOccurrences = { type, args: { limit: { type: IntType } } };
  }
  return new GraphQLObjectType({ name: names.aggregated, fields });
}
