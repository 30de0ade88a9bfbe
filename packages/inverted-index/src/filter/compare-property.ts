import type { FilterValue } from "@shoal/model";
import type { Work } from "@shoal/runtime";
import { type IndexedProperty, isPresentByColumn } from "../analysis/property-kind.js";
import { DocumentSet } from "../document-set.js";
import type { PropertyIndex } from "../stored/property-index.js";
import { selectCounts, selectNumbers } from "./compare-numbers.js";
import { selectPlaces } from "./compare-places.js";
import { selectTexts } from "./compare-texts.js";
import type { Comparison, FilterContext } from "./filter-context.js";
import { comparedNumbers, type NumberTest, numberTest } from "./intervals.js";

const NUMBERS = ["int", "number"] as const;
const DATES = ["date"] as const;
const TIMES = ["int", "number", "date"] as const;

/** The documents of which a property compares so. A value of a kind that the property cannot be compared with equals nothing. */
export function* compareProperty(
  context: FilterContext,
  index: PropertyIndex,
  comparison: Comparison,
  isTime: boolean,
): Work<DocumentSet> {
  const { operator, value } = comparison;
  const { kind } = index.property;
  if (operator === "IsNull") {
    if (value.kind !== "boolean") return new DocumentSet();
    const given = kind === "reference" ? yield* referringDocuments(context, index) : yield* presentDocuments(index);
    return value.values[0] === true ? context.directory.all().copy().andNot(given) : given.copy();
  }
  if (kind === "reference") return yield* compareCounts(context, index, comparison);
  if (operator === "NotEqual") {
    const equal = yield* compareProperty(context, index, { ...comparison, operator: "Equal" }, isTime);
    return (yield* presentDocuments(index)).copy().andNot(equal);
  }
  if (kind === "text") return yield* selectTexts(context, index, comparison);
  if (kind === "boolean") return yield* selectBooleans(index, comparison);
  if (kind === "geo") {
    const range = value.kind === "geoRange" && operator === "WithinGeoRange" ? value.values[0] : undefined;
    if (index.places === undefined || range === undefined) return new DocumentSet();
    const places = yield* index.places.slot.demand();
    return yield* selectPlaces(places, range, comparison.within, context.yielder);
  }
  const test = testOf(comparison, comparedKinds(index.property, isTime));
  if (index.numbers === undefined || test === undefined) return new DocumentSet();
  const column = yield* index.numbers.slot.demand();
  return yield* selectNumbers(column, test, comparison.within, context.yielder);
}

/** Kinds of values that numbers of the property are compared with. `isTime`: it is one of the two times of an object. */
export function comparedKinds({ kind }: IndexedProperty, isTime: boolean): readonly FilterValue["kind"][] {
  return isTime ? TIMES : kind === "date" ? DATES : NUMBERS;
}

const SOME_REFERENCES = numberTest("GreaterThan", [{ milliseconds: 0, rest: 0 }]);

/** All documents with at least one reference: an empty list is shown as `null` and counts 0, as a missing one. */
function* referringDocuments({ yielder }: FilterContext, { numbers }: PropertyIndex): Work<DocumentSet> {
  if (numbers === undefined || SOME_REFERENCES === undefined) return new DocumentSet();
  return yield* selectNumbers(yield* numbers.slot.demand(), SOME_REFERENCES, undefined, yielder);
}

/** All documents with a value of the property; not to be changed. */
function* presentDocuments(index: PropertyIndex): Work<DocumentSet> {
  const { property, flags, numbers, places } = index;
  if (flags !== undefined && !isPresentByColumn(property)) return (yield* flags.slot.demand()).documents("present");
  if (places !== undefined) return (yield* places.slot.demand()).present;
  return numbers === undefined ? new DocumentSet() : (yield* numbers.slot.demand()).present;
}

function testOf({ operator, value }: Comparison, kinds: readonly FilterValue["kind"][]): NumberTest | undefined {
  const numbers = comparedNumbers(value, kinds);
  return numbers === undefined ? undefined : numberTest(operator, numbers);
}

/** A document without references has 0 of them, so `NotEqual` is no matter of presence. */
function* compareCounts(context: FilterContext, index: PropertyIndex, comparison: Comparison): Work<DocumentSet> {
  const test = testOf(comparison, NUMBERS);
  if (index.numbers === undefined || test === undefined) return new DocumentSet();
  const all = context.directory.all();
  const counts = yield* selectCounts(yield* index.numbers.slot.demand(), test, all, context.yielder);
  return comparison.operator === "NotEqual" ? all.copy().andNot(counts) : counts;
}

function* selectBooleans(index: PropertyIndex, { operator, value }: Comparison): Work<DocumentSet> {
  const [bound] = value.kind === "boolean" ? value.values : [];
  if (index.flags === undefined || value.kind !== "boolean" || bound === undefined) return new DocumentSet();
  const cached = yield* index.flags.slot.demand();
  const set = (flag: boolean) => cached.documents(flag ? "true" : "false");
  const selected = new DocumentSet();
  if (operator === "ContainsAll") {
    for (const [at, flag] of value.values.entries()) at === 0 ? selected.or(set(flag)) : selected.and(set(flag));
    return selected;
  }
  for (const flag of [false, true]) if (isSelected(flag, operator, value.values)) selected.or(set(flag));
  return selected;
}

function isSelected(flag: boolean, operator: Comparison["operator"], values: readonly boolean[]): boolean {
  const order = Number(flag) - Number(values[0]);
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
    case "ContainsAny":
      return values.includes(flag);
    default:
      return false;
  }
}
