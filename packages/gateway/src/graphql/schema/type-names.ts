import { aggregatedKind, type ClassDefinition, isReferenceDataType } from "@shoal/model";
import { isFieldName } from "./object-types.js";
import { aggregateWherePrefix, getTypePrefix, whereTypeNames } from "./where-types.js";

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

/** Names of the types that every class has beside its own, those of filters aside. */
export function classTypeNames(className: string) {
  return {
    additional: `${className}Additional`,
    classification: `${className}AdditionalClassification`,
    nearVector: `GetObjects${className}NearVectorInpObj`,
    nearObject: `GetObjects${className}NearObjectInpObj`,
    group: `GetObjects${className}GroupInpObj`,
    groupType: `GetObjects${className}GroupInpObjTypeEnum`,
    aggregated: `Aggregate${className}`,
    aggregateMeta: `Aggregate${className}MetaObject`,
    groupedBy: `Aggregate${className}GroupedByObj`,
  };
}

/** Names of the types of a property, of which it has some. It is capitalised for a union only, as in the reference (reference-graphql 2.1). */
export function propertyTypeNames(className: string, name: string) {
  return {
    aggregated: `Aggregate${className}${name}Obj`,
    topOccurrences: `Aggregate${className}${name}TopOccurrencesObj`,
    geo: `${className}${name}GeoCoordinatesObj`,
    phone: `${className}${name}PhoneNumberObj`,
    union: `${className}${name.charAt(0).toUpperCase()}${name.slice(1)}Obj`,
  };
}

/**
 * Every type name that a class brings into the GraphQL schema, its own first. Two classes whose lists share a name, or
 * a list that holds one of {@link FIXED_TYPE_NAMES} or a name that begins with `__`, cannot live together.
 */
export function graphQlTypeNames(definition: Pick<ClassDefinition, "class" | "properties">): readonly string[] {
  const name = definition.class;
  const names = [
    name,
    ...Object.values(classTypeNames(name)),
    ...whereTypeNames(getTypePrefix(name)),
    ...whereTypeNames(aggregateWherePrefix(name)),
  ];
  for (const property of definition.properties ?? []) {
    // Others have no field, and no type for it.
    const kind = isFieldName(property.name) ? aggregatedKind(property.dataType) : undefined;
    const own = propertyTypeNames(name, property.name);
    if (kind !== undefined) names.push(own.aggregated);
    if (kind === "texts") names.push(own.topOccurrences);
    if (isReferenceDataType(property.dataType)) names.push(own.union);
    else if (property.dataType[0] === "geoCoordinates") names.push(own.geo);
    else if (property.dataType[0] === "phoneNumber") names.push(own.phone);
  }
  return names;
}
