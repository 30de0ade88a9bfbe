import { About, OneOf } from "./question.js";
import { compareTexts } from "./text-rules.js";
import { exactSum, goNumber, instantOf, shownDate } from "./value-rules.js";
import { elementsOf, referredIds, type World, type WorldObject } from "./world.js";

const TOP_DEFAULT = 5;

/** Which members a data type has; none for those that cannot be aggregated. */
export function aggregateMembers(dataType: string): readonly string[] {
  switch (dataType.replace("[]", "")) {
    case "int":
    case "number":
      return ["count", "minimum", "maximum", "mean", "median", "mode", "sum", "type"];
    case "string":
    case "text":
      return ["count", "type", "topOccurrences"];
    case "boolean":
      return ["count", "totalTrue", "totalFalse", "percentageTrue", "percentageFalse", "type"];
    case "date":
      return ["count", "minimum", "maximum"];
    case "reference":
      return ["type", "pointingTo"];
    default:
      return [];
  }
}

/** The members that are asked for, over the objects. */
export function aggregated(
  world: World,
  className: string,
  name: string,
  members: readonly string[],
  top: number | undefined,
  objects: readonly WorldObject[],
): unknown {
  const property = world.propertyOf(className, name);
  if (property === undefined) throw new Error(`no ${className}.${name}`);
  const values =
    property.dataType === "reference"
      ? objects.flatMap((one) => referredIds(one, name))
      : objects.flatMap((one) => elementsOf(one.properties.get(name)));
  const type = property.dataType === "reference" ? "cref" : property.dataType;
  const all: Record<string, unknown> = { count: values.length, type, pointingTo: property.targets };
  switch (property.dataType.replace("[]", "")) {
    case "int":
    case "number":
      Object.assign(all, ofNumbers(values as readonly number[]));
      break;
    case "string":
    case "text":
      all.topOccurrences = topOf(values as readonly string[]).slice(0, top ?? TOP_DEFAULT);
      break;
    case "boolean":
      Object.assign(all, ofBooleans(values as readonly boolean[]));
      break;
    case "date":
      Object.assign(all, ofDates(values as readonly string[], property.dataType === "date"));
      break;
    default:
  }
  return Object.fromEntries(members.map((member) => [member, all[member]]));
}

function ofNumbers(values: readonly number[]): object {
  const sum = exactSum(values);
  const none = { sum: 0, minimum: null, maximum: null, mean: null, median: null, mode: null };
  if (values.length === 0) return none;
  const sorted = [...values].sort((a, b) => a - b);
  const counts = new Map<number, number>();
  for (const value of sorted) counts.set(value, (counts.get(value) ?? 0) + 1);
  const most = Math.max(...counts.values());
  const mean = sum / values.length;
  return {
    sum,
    minimum: sorted[0],
    maximum: sorted.at(-1),
    mean: new About(mean, Math.abs(mean) * 1e-15),
    // The lower middle of an even count.
    median: sorted[Math.ceil(values.length / 2) - 1],
    mode: [...counts].find(([, count]) => count === most)?.[0],
  };
}

function topOf(values: readonly string[]): readonly { readonly value: string; readonly occurs: number }[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .map(([value, occurs]) => ({ value, occurs }))
    .sort((a, b) => b.occurs - a.occurs || compareTexts(a.value, b.value));
}

function ofBooleans(values: readonly boolean[]): object {
  const totalTrue = values.filter((value) => value).length;
  const totalFalse = values.length - totalTrue;
  const part = (count: number): unknown =>
    values.length === 0 ? new OneOf([0, null]) : new About(count / values.length, 1e-15);
  return { totalTrue, totalFalse, percentageTrue: part(totalTrue), percentageFalse: part(totalFalse) };
}

/** Any of the texts that stand for the earliest instant, and for the latest. */
function ofDates(values: readonly string[], isShown: boolean): object {
  if (values.length === 0) return { minimum: null, maximum: null };
  const instants = values.map(instantOf);
  const sorted = [...instants].sort((a, b) => (a < b ? -1 : 1));
  const texts = (instant: bigint | undefined): OneOf =>
    new OneOf(values.filter((_, at) => instants[at] === instant).map((one) => (isShown ? shownDate(one) : one)));
  return { minimum: texts(sorted[0]), maximum: texts(sorted.at(-1)) };
}

export interface ExpectedGroup {
  readonly value: string;
  readonly objects: readonly WorldObject[];
}

/** Objects by each of their values, the largest group first, then by the value's text. */
export function groupsBy(objects: readonly WorldObject[], name: string): readonly ExpectedGroup[] {
  const groups = new Map<string, Set<WorldObject>>();
  for (const object of objects) {
    for (const value of elementsOf(object.properties.get(name))) {
      const text = typeof value === "number" ? goNumber(value) : String(value);
      groups.set(text, (groups.get(text) ?? new Set()).add(object));
    }
  }
  return [...groups]
    .map(([value, members]) => ({ value, objects: [...members] }))
    .sort((a, b) => b.objects.length - a.objects.length || compareTexts(a.value, b.value));
}
