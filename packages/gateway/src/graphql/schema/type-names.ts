import { aggregatedKind, type ClassDefinition, isReferenceDataType } from "@shoal/model";
import { isFieldName } from "./object-types.js";
import { aggregateWherePrefix, getWherePrefix, whereTypeNames } from "./where-types.js";

/** Names of the GraphQL types that exist whatever the classes are, also of those that no query reaches yet. */
export const FIXED_TYPE_NAMES: readonly string[] = [
  "WeaviateObj",
  "GetObjectsObj",
  "AggregateObjectsObj",
  "ExploreObj",
  "ExploreNearVectorInpObj",
  "ExploreNearObjectInpObj",
  "Beacon",
  "Int",
  "Float",
  "String",
  "Boolean",
  "ID",
];

/** The name of the object type of a class's `_additional`. */
export function additionalTypeName(className: string): string {
  return `${className}Additional`;
}

export function classificationTypeName(className: string): string {
  return `${className}AdditionalClassification`;
}

export function nearVectorInputName(className: string): string {
  return `GetObjects${className}NearVectorInpObj`;
}

export function nearObjectInputName(className: string): string {
  return `GetObjects${className}NearObjectInpObj`;
}

export function groupInputName(className: string): string {
  return `GetObjects${className}GroupInpObj`;
}

export function groupTypeEnumName(className: string): string {
  return `GetObjects${className}GroupInpObjTypeEnum`;
}

export function aggregatedTypeName(className: string): string {
  return `Aggregate${className}`;
}

export function aggregateMetaTypeName(className: string): string {
  return `Aggregate${className}MetaObject`;
}

export function groupedByTypeName(className: string): string {
  return `Aggregate${className}GroupedByObj`;
}

/** The property is not capitalised, here and below. */
export function aggregatedPropertyTypeName(className: string, propertyName: string): string {
  return `Aggregate${className}${propertyName}Obj`;
}

export function topOccurrencesTypeName(className: string, propertyName: string): string {
  return `Aggregate${className}${propertyName}TopOccurrencesObj`;
}

/** The property is not capitalised, as in the reference (reference-graphql 2.1). */
export function geoTypeName(className: string, propertyName: string): string {
  return `${className}${propertyName}GeoCoordinatesObj`;
}

export function phoneTypeName(className: string, propertyName: string): string {
  return `${className}${propertyName}PhoneNumberObj`;
}

export function referenceUnionName(className: string, propertyName: string): string {
  return `${className}${propertyName.charAt(0).toUpperCase()}${propertyName.slice(1)}Obj`;
}

/**
 * Every type name that a class brings into the GraphQL schema, its own first. Two classes whose lists share a name, or
 * a list that holds one of {@link FIXED_TYPE_NAMES} or a name that begins with `__`, cannot live together.
 */
export function graphQlTypeNames(definition: Pick<ClassDefinition, "class" | "properties">): readonly string[] {
  const name = definition.class;
  const names = [
    name,
    additionalTypeName(name),
    classificationTypeName(name),
    nearVectorInputName(name),
    nearObjectInputName(name),
    groupInputName(name),
    groupTypeEnumName(name),
    aggregatedTypeName(name),
    aggregateMetaTypeName(name),
    groupedByTypeName(name),
    ...whereTypeNames(getWherePrefix(name)),
    ...whereTypeNames(aggregateWherePrefix(name)),
  ];
  for (const property of definition.properties ?? []) {
    // Others have no field, and no type for it.
    const kind = isFieldName(property.name) ? aggregatedKind(property.dataType) : undefined;
    if (kind !== undefined) names.push(aggregatedPropertyTypeName(name, property.name));
    if (kind === "texts") names.push(topOccurrencesTypeName(name, property.name));
    if (isReferenceDataType(property.dataType)) names.push(referenceUnionName(name, property.name));
    else if (property.dataType[0] === "geoCoordinates") names.push(geoTypeName(name, property.name));
    else if (property.dataType[0] === "phoneNumber") names.push(phoneTypeName(name, property.name));
  }
  return names;
}
