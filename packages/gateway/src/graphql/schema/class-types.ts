import { type ClassDefinition, isReferenceDataType, type PropertyDefinition } from "@shoal/model";
import type { EnabledModules } from "@shoal/module-api";
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
import { additionalArguments, outputType, searchArguments } from "./module-types.js";
import { nearArguments } from "./near-arguments.js";
import { isFieldName, plainObject } from "./object-types.js";
import { FloatType, IntType } from "./scalars.js";
import { classTypeNames, propertyTypeNames } from "./type-names.js";
import { getTypePrefix, whereInput } from "./where-types.js";

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
const BeaconType = new GraphQLObjectType({ name: "Beacon", fields: { beacon: { type: GraphQLString } } });

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
  const names = classTypeNames(className);
  const searches = modules.argumentsOf(definition).values();
  return {
    ...searchArguments(searches, getTypePrefix(className), modules.textTransformer !== undefined),
    limit: { type: IntType },
    offset: { type: IntType },
    where: { type: whereInput(getTypePrefix(className)) },
    ...nearArguments(names.nearVector, names.nearObject),
    group: {
      type: new GraphQLInputObjectType({
        name: names.group,
        fields: {
          // A request that leaves it out fails when the query runs (reference-graphql 2.2).
          type: {
            type: new GraphQLEnumType({
              name: names.groupType,
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
      name: propertyTypeNames(className, property.name).union,
      types: [...targets, BeaconType],
    });
    return { ...described, type: new GraphQLList(union) };
  }
  const type = primitiveType(className, property);
  return type === undefined ? undefined : { ...described, type };
}

function primitiveType(className: string, property: PropertyDefinition): GraphQLOutputType | undefined {
  const dataType = property.dataType[0] ?? "";
  const names = propertyTypeNames(className, property.name);
  if (dataType === "geoCoordinates") return plainObject(names.geo, { latitude: FloatType, longitude: FloatType });
  if (dataType === "phoneNumber") return phoneType(names.phone);
  if (dataType.endsWith("[]")) {
    const element = SCALARS.get(dataType.slice(0, -2));
    return element === undefined ? undefined : new GraphQLList(element);
  }
  return SCALARS.get(dataType);
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
  const names = classTypeNames(definition.class);
  const strings = new GraphQLList(GraphQLString);
  const fields: Record<string, GraphQLFieldConfig<unknown, unknown>> = {
    id: { type: GraphQLString },
    certainty: { type: FloatType },
    vector: { type: new GraphQLList(FloatType) },
    classification: {
      type: plainObject(names.classification, {
        id: GraphQLString,
        basedOn: strings,
        scope: strings,
        classifiedFields: strings,
        completed: GraphQLString,
      }),
    },
  };
  for (const property of modules.additionalOf(definition).values()) {
    const type = outputType(property.output, names.additional);
    fields[property.name] = { type, args: additionalArguments(property) };
  }
  return new GraphQLObjectType({ name: names.additional, fields });
}
