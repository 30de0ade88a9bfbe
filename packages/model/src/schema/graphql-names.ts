import { ShoalError } from "../errors/shoal-error.js";
import type { ClassDefinition, PropertyDefinition } from "./class-definition.js";
import { upperFirst } from "./class-names.js";
import { primitiveDataType } from "./data-type.js";
import { ALL_SHOWN, type IsShown } from "./unknown-names.js";

/** GraphQL types that exist whatever the classes are (reference-graphql 2.1, 3), and the built-in scalars. */
const FIXED_TYPES: readonly string[] = [
  "String",
  "Int",
  "Float",
  "Boolean",
  "ID",
  "Beacon",
  "WeaviateObj",
  "GetObjectsObj",
  "AggregateObjectsObj",
  "ExploreObj",
  "ExploreNearVectorInpObj",
  "ExploreNearObjectInpObj",
  "Txt2VecC11yExploreNearTextInpObj",
  "Txt2VecC11yExploreMoveTo",
  "Txt2VecC11yExploreMoveAwayFrom",
  "Txt2VecC11yExploreMoveToMovementObjectsInpObj",
  "Txt2VecC11yExploreMoveAwayFromMovementObjectsInpObj",
  "QnATransformersExploreAskInpObj",
  "Img2VecImageExploreNearImageInpObj",
];

const ADDITIONAL_SUFFIXES: readonly string[] = [
  "",
  "Classification",
  "NearestNeighbors",
  "NearestNeighborsNeighbor",
  "FeatureProjection",
  "SemanticPath",
  "SemanticPathElement",
  "Interpretation",
  "InterpretationSource",
  "SpellCheck",
  "SpellCheckChanges",
  "Tokens",
  "Answer",
];

/** How the types of a `where` argument end, behind what its field begins with. */
export const WHERE_TYPE_SUFFIXES: readonly string[] = [
  "WhereInpObj",
  "WhereOperandsInpObj",
  "WhereOperatorEnum",
  "WhereGeoRangeInpObj",
  "WhereGeoRangeGeoCoordinatesInpObj",
  "WhereGeoRangeDistanceInpObj",
];

const ARGUMENT_SUFFIXES: readonly string[] = [
  "NearVectorInpObj",
  "NearObjectInpObj",
  "GroupInpObj",
  "GroupInpObjTypeEnum",
];

const TEXT_SUFFIXES: readonly string[] = [
  "NearTextInpObj",
  "MoveTo",
  "MoveAwayFrom",
  "MoveToMovementObjectsInpObj",
  "MoveAwayFromMovementObjectsInpObj",
];

const namesByClass = new WeakMap<ClassDefinition, ReadonlyMap<string, string>>();

/**
 * Fails with `invalid`, naming both sides, when a GraphQL type that `changed` (a new class, or a class with a new
 * property) needs has the name of a fixed type, of a type of another class of `schema`, or of another one of its own. The
 * types of all modules count, enabled or not: enabling one later must not break the schema. A class that is not shown is not
 * named.
 */
export function checkGraphqlNames(
  changed: ClassDefinition,
  schema: readonly ClassDefinition[],
  isShown: IsShown = ALL_SHOWN,
): void {
  const own = graphqlNames(changed);
  for (const fixed of FIXED_TYPES) {
    const owner = own.get(fixed);
    if (owner !== undefined) throw collision(fixed, owner, "the GraphQL interface itself");
  }
  for (const other of schema) {
    if (other.class === changed.class) continue;
    const others = graphqlNames(other);
    // Classes may have a thousand properties each: only the smaller side is walked through.
    for (const name of (own.size < others.size ? own : others).keys()) {
      const owner = own.get(name);
      const otherOwner = others.get(name);
      if (owner !== undefined && otherOwner !== undefined) {
        throw collision(name, owner, isShown(other.class) ? otherOwner : "another class");
      }
    }
  }
}

/** The GraphQL type names that a class needs, each with who needs it. Fails with `invalid` when two are the same. */
function graphqlNames(definition: ClassDefinition): ReadonlyMap<string, string> {
  const known = namesByClass.get(definition);
  if (known !== undefined) return known;
  const names = new Map<string, string>();
  const add = (owner: string, prefix: string, suffixes: readonly string[]) => {
    for (const suffix of suffixes) {
      const name = prefix + suffix;
      const other = names.get(name);
      if (other !== undefined) throw collision(name, owner, other);
      names.set(name, owner);
    }
  };
  const { class: className } = definition;
  const owner = `class '${className}'`;
  add(owner, className, [""]);
  add(owner, `${className}Additional`, ADDITIONAL_SUFFIXES);
  add(owner, `GetObjects${className}`, WHERE_TYPE_SUFFIXES);
  add(owner, `GetObjects${className}`, ARGUMENT_SUFFIXES);
  add(owner, `Txt2VecC11yGetObjects${className}`, TEXT_SUFFIXES);
  add(owner, `QnATransformersGetObjects${className}`, ["AskInpObj"]);
  add(owner, `Img2VecImageGetObjects${className}`, ["NearImageInpObj"]);
  add(owner, `Aggregate${className}`, ["", "MetaObject", "GroupedByObj"]);
  add(owner, `AggregateObjects${className}`, WHERE_TYPE_SUFFIXES);
  for (const property of definition.properties ?? []) {
    const propertyOwner = `property '${property.name}' of class '${className}'`;
    for (const name of propertyTypeNames(className, property)) add(propertyOwner, name, [""]);
  }
  namesByClass.set(definition, names);
  return names;
}

function propertyTypeNames(className: string, property: PropertyDefinition): string[] {
  const names = [`Aggregate${className}${property.name}Obj`, `Aggregate${className}${property.name}TopOccurrencesObj`];
  const type = primitiveDataType(property.dataType);
  if (type === undefined) names.push(`${className}${upperFirst(property.name)}Obj`);
  if (type === "geoCoordinates") names.push(`${className}${property.name}GeoCoordinatesObj`);
  if (type === "phoneNumber") names.push(`${className}${property.name}PhoneNumberObj`);
  return names;
}

function collision(name: string, owner: string, other: string): ShoalError {
  return new ShoalError("invalid", `the GraphQL type '${name}' of ${owner} would collide with that of ${other}`);
}
