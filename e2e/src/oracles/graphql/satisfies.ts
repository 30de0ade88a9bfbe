import type { Clause, GeoClause, ValueClause } from "./clause.js";
import { compareTexts, isLike, patternsOf, type TextKind, tokensOf } from "./text-rules.js";
import { instantOf, metresBetween } from "./value-rules.js";
import { elementsOf, type Place, referredIds, Undecided, type World, type WorldObject } from "./world.js";

/** Whether the object satisfies the clause: the rules of reference-graphql 5 and decisions, one object at a time. */
export function satisfies(world: World, object: WorldObject, clause: Clause): boolean {
  if ("operands" in clause) {
    const results = clause.operands.map((operand) => satisfies(world, object, operand));
    if (clause.operator === "Or") return results.some((one) => one);
    return results.every((one) => one) === (clause.operator === "And");
  }
  const [property = "", className, ...rest] = clause.path;
  if (className === undefined) return holds(world, object, property, clause);
  return referredIds(object, property)
    .map((id) => world.objects.get(id))
    .filter((target) => target?.className === className)
    .some((target) => target !== undefined && satisfies(world, target, { ...clause, path: rest }));
}

function holds(world: World, object: WorldObject, property: string, clause: ValueClause | GeoClause): boolean {
  if (!("field" in clause)) return isWithin(object.properties.get(property) as Place | undefined, clause);
  const elements = comparable(world, object, property, clause.field);
  const equal = (value: unknown): boolean => elements.some((element) => compares("Equal", element, value, clause));
  switch (clause.operator) {
    case "IsNull":
      return isSet(world, object, property) !== clause.value;
    case "NotEqual":
      return isSet(world, object, property, true) && !equal(clause.value);
    case "ContainsAny":
      return (clause.value as readonly unknown[]).some(equal);
    case "ContainsAll":
      return (clause.value as readonly unknown[]).every(equal);
    default:
      return elements.some((element) => compares(clause.operator, element, clause.value, clause));
  }
}

/**
 * As Get shows it: an empty list is a value, but a reference to nothing is `null`. The number of references is always
 * there.
 */
function isSet(world: World, object: WorldObject, property: string, isCounted = false): boolean {
  if (property === "id" || property.startsWith("_")) return true;
  const isReference = world.propertyOf(object.className, property)?.dataType === "reference";
  return isReference ? isCounted || referredIds(object, property).length > 0 : object.properties.has(property);
}

/** A text with the rule by which it was cut, or anything that has an order. */
type Comparable = { readonly kind: TextKind | "id"; readonly text: string } | number | bigint | boolean;

function comparable(world: World, object: WorldObject, property: string, field: string): readonly Comparable[] {
  if (property === "id") return [{ kind: "id", text: object.id }];
  const time =
    property === "_creationTimeUnix"
      ? object.createdMs
      : property === "_lastUpdateTimeUnix"
        ? object.updatedMs
        : undefined;
  if (time !== undefined) return [field === "valueDate" ? BigInt(time) * 1_000_000n : time];
  const dataType = world.propertyOf(object.className, property)?.dataType.replace("[]", "");
  if (dataType === "reference") return [referredIds(object, property).length];
  return elementsOf(object.properties.get(property)).map((element): Comparable => {
    if (dataType === "string" || dataType === "text") return { kind: dataType, text: String(element) };
    if (dataType === "date") return instantOf(String(element));
    return dataType === "boolean" ? Boolean(element) : Number(element);
  });
}

function compares(operator: string, element: Comparable, value: unknown, { field }: ValueClause): boolean {
  if (typeof element === "object") return comparesText(operator, element, String(value), field);
  const other =
    field === "valueDate" ? instantOf(String(value)) : typeof element === "boolean" ? Boolean(value) : Number(value);
  return fits(operator, element < other ? -1 : element > other ? 1 : 0);
}

function comparesText(
  operator: string,
  { kind, text }: { readonly kind: TextKind | "id"; readonly text: string },
  value: string,
  field: string,
): boolean {
  const tokens = kind === "id" ? [text] : tokensOf(kind, text);
  const cut = field === "valueText" ? "text" : "string";
  const wanted = operator === "Like" ? patternsOf(cut, value) : tokensOf(cut, value);
  const one = (token: string, other: string): boolean =>
    operator === "Like" ? isLike(token, other) : fits(operator, compareTexts(token, other));
  return wanted.length > 0 && wanted.every((other) => tokens.some((token) => one(token, other)));
}

function fits(operator: string, order: number): boolean {
  switch (operator) {
    case "Equal":
      return order === 0;
    case "GreaterThan":
      return order > 0;
    case "GreaterThanEqual":
      return order >= 0;
    case "LessThan":
      return order < 0;
    case "LessThanEqual":
      return order <= 0;
    default:
      throw new Error(`${operator} compares nothing`);
  }
}

/** So many metres, and such a part of the distance, may come from another formula. */
const BORDER_METRES = 1;
const BORDER_PART = 1e-5;

function isWithin(place: Place | undefined, clause: GeoClause): boolean {
  if (place === undefined) return false;
  // Coordinates are float32, in the filter, too: the same ones are exactly 0 m apart (reference-graphql 5.3).
  const metres = metresBetween(single(place), single(clause));
  if (metres !== 0 && Math.abs(metres - clause.max) < BORDER_METRES + BORDER_PART * metres) {
    throw new Undecided(`${metres} m is too near to ${clause.max} m`);
  }
  return metres <= clause.max;
}

function single({ latitude, longitude }: Place): Place {
  return { latitude: Math.fround(latitude), longitude: Math.fround(longitude) };
}
