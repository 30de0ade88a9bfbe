import { type ClassDefinition, isReferenceDataType, type PropertyDefinition } from "@shoal/model";
import type { AdditionalProperty, EnabledModules } from "@shoal/module-api";
import {
  GraphQLBoolean,
  GraphQLEnumType,
  type GraphQLFieldConfig,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLString,
  GraphQLUnionType,
} from "graphql";
import { additionalArguments, getSearchPrefix, outputType, searchArguments } from "./module-types.js";
import { nearArguments } from "./near-arguments.js";
import { isFieldName, plainObject } from "./object-types.js";
import { FloatType, IntType } from "./scalars.js";
import {
  additionalTypeName,
  classificationTypeName,
  geoTypeName,
  groupInputName,
  groupTypeEnumName,
  nearObjectInputName,
  nearVectorInputName,
  phoneTypeName,
  referenceUnionName,
} from "./type-names.js";
import { getWherePrefix, whereInput } from "./where-types.js";

const SCALARS: ReadonlyMap<string, GraphQLOutputType> = new Map<string, GraphQLOutputType>([
  ["string", GraphQLString],
  ["text", GraphQLString],
  ["blob", GraphQLString],
  ["date", GraphQLString],
  ["int", IntType],
  ["number", FloatType],
  ["boolean", GraphQLBoolean],
]);

/** A member of a reference union: a target that is no class of this server. */
export const BeaconType = new GraphQLObjectType({ name: "Beacon", fields: { beacon: { type: GraphQLString } } });

/**
 * The object type of a class (reference-graphql 2.1, 2.5, 2.6). `typeOf` is asked when the schema is put together
 * and knows the types of all classes by then; targets that it lacks vanish.
 */
export function classObjectType(
  definition: ClassDefinition,
  typeOf: (className: string) => GraphQLObjectType | undefined,
  modules: EnabledModules,
): GraphQLObjectType {
  return new GraphQLObjectType({
    name: definition.class,
    ...(definition.description === undefined ? {} : { description: definition.description }),
    fields: () => {
      const fields: Record<string, GraphQLFieldConfig<unknown, unknown>> = {};
      for (const property of definition.properties ?? []) {
        if (!isFieldName(property.name)) continue;
        const field = propertyField(definition.class, property, typeOf);
        if (field !== undefined) fields[property.name] = field;
      }
      // Last, so that it wins over a property of that name.
      fields._additional = { type: additionalType(definition, modules) };
      return fields;
    },
  });
}

/** Arguments of `Get.<Class>`, those that modules answer included. */
export function getArguments(definition: ClassDefinition, modules: EnabledModules) {
  const { class: className } = definition;
  const searches = modules.argumentsOf(definition).values();
  return {
    ...searchArguments(searches, getSearchPrefix(className), modules.textTransformer !== undefined),
    limit: { type: IntType },
    offset: { type: IntType },
    where: { type: whereInput(getWherePrefix(className)) },
    ...nearArguments(nearVectorInputName(className), nearObjectInputName(className)),
    group: {
      type: new GraphQLInputObjectType({
        name: groupInputName(className),
        fields: {
          // Whoever leaves it out is told when the query runs (reference-graphql 2.2).
          type: {
            type: new GraphQLEnumType({
              name: groupTypeEnumName(className),
              values: { closest: { value: "closest" }, merge: { value: "merge" } },
            }),
          },
          force: { type: new GraphQLNonNull(FloatType) },
        },
      }),
    },
  };
}

function propertyField(
  className: string,
  property: PropertyDefinition,
  typeOf: (className: string) => GraphQLObjectType | undefined,
): GraphQLFieldConfig<unknown, unknown> | undefined {
  const described = property.description === undefined ? {} : { description: property.description };
  if (isReferenceDataType(property.dataType)) {
    // A union cannot hold a class twice.
    const targets = [...new Set(property.dataType)].flatMap((name) => typeOf(name) ?? []);
    if (targets.length === 0) return undefined;
    const union = new GraphQLUnionType({
      name: referenceUnionName(className, property.name),
      types: [...targets, BeaconType],
    });
    return { ...described, type: new GraphQLList(union) };
  }
  const type = primitiveType(className, property);
  return type === undefined ? undefined : { ...described, type };
}

function primitiveType(className: string, property: PropertyDefinition): GraphQLOutputType | undefined {
  const dataType = property.dataType[0] ?? "";
  if (dataType === "geoCoordinates") return geoType(geoTypeName(className, property.name));
  if (dataType === "phoneNumber") return phoneType(phoneTypeName(className, property.name));
  if (dataType.endsWith("[]")) {
    const element = SCALARS.get(dataType.slice(0, -2));
    return element === undefined ? undefined : new GraphQLList(element);
  }
  return SCALARS.get(dataType);
}

function geoType(name: string): GraphQLObjectType {
  return plainObject(name, { latitude: FloatType, longitude: FloatType });
}

function phoneType(name: string): GraphQLObjectType {
  return plainObject(name, {
    input: GraphQLString,
    internationalFormatted: GraphQLString,
    nationalFormatted: GraphQLString,
    national: IntType,
    valid: GraphQLBoolean,
    countryCode: IntType,
    defaultCountry: GraphQLString,
  });
}

/** `_additional`, with the fields of modules. */
function additionalType(definition: ClassDefinition, modules: EnabledModules): GraphQLObjectType {
  const { class: className } = definition;
  const own = ownAdditionalType(className);
  const offered = [...modules.additionalOf(definition).values()];
  if (offered.length === 0) return own;
  const { name, fields } = own.toConfig();
  const added = offered.map((property) => [property.name, additionalField(className, property)]);
  return new GraphQLObjectType({ name, fields: { ...fields, ...Object.fromEntries(added) } });
}

function additionalField(className: string, property: AdditionalProperty): GraphQLFieldConfig<unknown, unknown> {
  return { type: outputType(property.output, additionalTypeName(className)), args: additionalArguments(property) };
}

function ownAdditionalType(className: string): GraphQLObjectType {
  const strings = new GraphQLList(GraphQLString);
  return plainObject(additionalTypeName(className), {
    id: GraphQLString,
    certainty: FloatType,
    vector: new GraphQLList(FloatType),
    classification: plainObject(classificationTypeName(className), {
      id: GraphQLString,
      basedOn: strings,
      scope: strings,
      classifiedFields: strings,
      completed: GraphQLString,
    }),
  });
}
