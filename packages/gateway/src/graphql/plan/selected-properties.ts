import {
  type AggregatedProperty,
  aggregatedKind,
  type ClassDefinition,
  type PropertyAggregate,
  ShoalError,
} from "@shoal/model";
import { type FieldNode, type GraphQLObjectType, getNamedType, isObjectType } from "graphql";
import { nodesByField, type SelectedFields, type SelectionScope, selectedSubfields } from "./selected-fields.js";

/** Values that `topOccurrences` lists when nothing is said. */
const TOP_OCCURRENCES_DEFAULT = 5;

/** A property that an Aggregate asks the query for, all its aliases together. */
export interface AskedProperty {
  readonly name: string;
  readonly kind: PropertyAggregate["kind"];
  /** Names of the fields that are wanted of it. */
  readonly fields: ReadonlySet<string>;
}

interface SelectedProperty extends AskedProperty {
  /** Where `topOccurrences` is selected: each may have a limit of its own. */
  readonly topOccurrences: readonly FieldNode[];
}

/** Fields that the definition answers, and the name of the type. */
const KNOWN_WITHOUT_ASKING: ReadonlySet<string> = new Set(["type", "pointingTo", "__typename"]);

/** The properties that `selected`, fields of an aggregated class, asks the query for; in the order of the selection. */
export function selectedProperties(
  scope: SelectionScope,
  definition: ClassDefinition,
  type: GraphQLObjectType,
  selected: SelectedFields,
): readonly SelectedProperty[] {
  const properties: SelectedProperty[] = [];
  for (const [name, nodes] of nodesByField(selected)) {
    const propertyType = getNamedType(type.getFields()[name]?.type);
    const property = definition.properties?.find((each) => each.name === name);
    const kind = property && aggregatedKind(property.dataType);
    if (NOT_PROPERTIES.has(name) || kind === undefined || !isObjectType(propertyType)) continue;
    const byField = nodesByField(selectedSubfields(scope, propertyType, nodes));
    const fields = new Set([...byField.keys()].filter((field) => !KNOWN_WITHOUT_ASKING.has(field)));
    const topOccurrences = byField.get("topOccurrences") ?? [];
    if (fields.size > 0) properties.push({ name, kind, fields, topOccurrences });
  }
  return properties;
}

/** Fields of every aggregated class; a property of such a name is not seen. */
const NOT_PROPERTIES: ReadonlySet<string> = new Set(["meta", "groupedBy"]);

/** What the query is asked for; `topLimits` are those of all places of `topOccurrences`. */
export function aggregatedProperty(asked: AskedProperty, topLimits: readonly number[]): AggregatedProperty {
  const { name, kind, fields } = asked;
  const isNumbers = kind === "numbers";
  return {
    name,
    numbers: isNumbers && NUMBER_FIELDS.some((field) => fields.has(field)),
    distribution: isNumbers && (fields.has("median") || fields.has("mode")),
    topOccurrences: topLimits.length === 0 ? undefined : Math.max(...topLimits),
    dates: kind === "dates" && (fields.has("minimum") || fields.has("maximum")),
    booleans: kind === "booleans" && BOOLEAN_FIELDS.some((field) => fields.has(field)),
  };
}

const NUMBER_FIELDS = ["minimum", "maximum", "sum", "mean"];
const BOOLEAN_FIELDS = ["totalTrue", "totalFalse", "percentageTrue", "percentageFalse"];

/** The limit of one `topOccurrences`. Fails with `invalid` when it is negative. */
export function topOccurrencesLimit(className: string, property: string, given: number | null | undefined): number {
  const limit = given ?? TOP_OCCURRENCES_DEFAULT;
  if (limit >= 0) return limit;
  throw new ShoalError(
    "invalid",
    `property '${property}' of class '${className}': the limit of topOccurrences must be 0 or more, got ${limit}`,
  );
}

/** The path of `groupBy`, undefined when it is not given. Fails with `invalid` when an element is null. */
export function groupByPath(given: readonly (string | null)[] | null | undefined): readonly string[] | undefined {
  return given?.map((element, i) => {
    if (element !== null) return element;
    throw new ShoalError("invalid", `groupBy must name one property, as in ["name"]: element ${i} is null`);
  });
}
