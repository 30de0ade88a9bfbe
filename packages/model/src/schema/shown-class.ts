import type { JsonObject } from "../objects/json.js";
import { isUncheckedObject } from "../objects/value-wording.js";
import type { WireProfile } from "../wire-profile.js";
import type { ClassDefinition, PropertyDefinition } from "./class-definition.js";

/**
 * A class as clients see it (decisions.md, wire profile). What is stored is the same under every profile, so that one
 * that is switched shows classes that were made before as it shows new ones. Members that ask for nothing stand in their
 * sections, as they were given.
 */
export function shownClass(
  definition: ClassDefinition,
  { absentPropertiesAreNull }: Pick<WireProfile, "absentPropertiesAreNull">,
): Omit<ClassDefinition, "inert"> {
  const isAsShown = definition.properties !== null || absentPropertiesAreNull;
  const hasInert = definition.inert !== undefined || definition.properties?.some(({ inert }) => inert !== undefined);
  if (isAsShown && !hasInert) return definition;
  const { inert, ...own } = definition;
  const properties = own.properties?.map(shownProperty) ?? (absentPropertiesAreNull ? null : []);
  const shown = { ...own, properties };
  return inert === undefined ? shown : ordered(withInert(shown, inert), CLASS_ORDER);
}

/** The class with that factor, as if it had been given. */
export function withFactor(definition: ClassDefinition, factor: number): ClassDefinition {
  return ordered({ ...definition, replicationConfig: { factor } }, CLASS_ORDER);
}

/** A property as clients see it. */
export function shownProperty(property: PropertyDefinition): Omit<PropertyDefinition, "inert"> {
  const { inert, ...own } = property;
  return inert === undefined ? property : ordered(withInert(own, inert), PROPERTY_ORDER);
}

/** Where members stand that the reference of then does not have: in the order of the alphabet, as all of them. */
const CLASS_ORDER: readonly string[] = [
  ...["class", "description", "invertedIndexConfig", "moduleConfig", "multiTenancyConfig", "objectTtlConfig"],
  ...["properties", "replicationConfig", "shardingConfig", "vectorIndexConfig", "vectorIndexType", "vectorizer"],
];
const PROPERTY_ORDER: readonly string[] = [
  ...["dataType", "description", "indexFilterable", "indexInverted", "indexRangeFilters", "indexSearchable"],
  ...["moduleConfig", "name", "tokenization"],
];

function ordered<Shown extends object>(shown: Shown, order: readonly string[]): Shown {
  const place = ([name]: [string, unknown]): number => order.indexOf(name);
  return Object.fromEntries(Object.entries(shown).sort((a, b) => place(a) - place(b))) as Shown;
}

/** What has a meaning of its own wins: a member may have got one since the class was made. */
function withInert<Own extends object>(own: Own, inert: JsonObject): Own {
  const members = new Map<string, unknown>(Object.entries(own));
  for (const [name, value] of Object.entries(inert)) {
    const has = members.get(name);
    if (has === undefined) members.set(name, value);
    else if (isUncheckedObject(has) && isUncheckedObject(value)) members.set(name, withInert(has, value as JsonObject));
  }
  return Object.fromEntries(members) as Own;
}
