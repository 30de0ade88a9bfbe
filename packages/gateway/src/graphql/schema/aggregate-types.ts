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
import {
  aggregatedPropertyTypeName,
  aggregatedTypeName,
  aggregateMetaTypeName,
  groupedByTypeName,
  topOccurrencesTypeName,
} from "./type-names.js";
import { aggregateWherePrefix, whereInput } from "./where-types.js";

const STRINGS = new GraphQLList(GraphQLString);

/** What is told of the values of each kind; `topOccurrences`, `type` and `pointingTo` aside. */
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
  return new GraphQLObjectType({
    name: aggregatedTypeName(className),
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
      fields.meta = { type: plainObject(aggregateMetaTypeName(className), { count: IntType }) };
      fields.groupedBy = { type: plainObject(groupedByTypeName(className), { path: STRINGS, value: GraphQLString }) };
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
  const fields: Record<string, GraphQLFieldConfig<unknown, unknown>> = {};
  for (const [field, type] of Object.entries(VALUES[kind])) fields[field] = { type };
  if (kind !== "dates") fields.type = { type: GraphQLString };
  if (kind === "references") fields.pointingTo = { type: STRINGS };
  if (kind === "texts") fields.topOccurrences = topOccurrences(topOccurrencesTypeName(className, name));
  return new GraphQLObjectType({ name: aggregatedPropertyTypeName(className, name), fields });
}

function topOccurrences(typeName: string): GraphQLFieldConfig<unknown, unknown> {
  return {
    type: new GraphQLList(plainObject(typeName, { value: GraphQLString, occurs: IntType })),
    args: { limit: { type: IntType } },
  };
}
