// What an aggregation of one shard must say, by a plain loop over its objects; and answers in a form that can be compared.

import {
  type AggregatedProperty,
  aggregatedKind,
  compareUtf8,
  dateInstant,
  ExactSum,
  groupText,
  type Json,
  type PropertyDefinition,
  type ShardAggregate,
  type ShardAggregation,
} from "@shoal/model";
import type { PlainObject } from "./aggregate-world.js";

type Value = string | number | boolean;

/** A group's answer with everything in one order. */
export interface ComparableGroup {
  readonly groupedBy: Value | undefined;
  readonly objectCount: number;
  readonly properties: readonly Readonly<Record<string, unknown>>[];
}

type Asked = Pick<ShardAggregation, "groupBy" | "properties" | "isWhole" | "groupsMax">;

export function plainAggregate(
  objects: readonly PlainObject[],
  definitions: readonly PropertyDefinition[],
  { groupBy, properties, isWhole, groupsMax }: Asked,
): readonly ComparableGroup[] {
  const groups = new Map<Value | undefined, PlainObject[]>(groupBy === undefined ? [[undefined, [...objects]]] : []);
  if (groupBy !== undefined) {
    for (const object of objects) {
      for (const value of new Set(valuesOf(object, groupBy))) groups.set(value, [...(groups.get(value) ?? []), object]);
    }
  }
  const answer = [...groups].map(([groupedBy, members]) => ({
    groupedBy,
    objectCount: members.length,
    properties: properties.map((wanted) => plainPart(members, definitions, wanted, isWhole)),
  }));
  return groupBy === undefined ? answer : inOrder(answer).slice(0, isWhole ? groupsMax : answer.length);
}

function inOrder(groups: readonly ComparableGroup[]): readonly ComparableGroup[] {
  const text = ({ groupedBy }: ComparableGroup) => groupText(groupedBy ?? "");
  return [...groups].sort((a, b) => b.objectCount - a.objectCount || compareUtf8(text(a), text(b)));
}

function valuesOf(object: PlainObject, name: string): readonly Value[] {
  const value: Json | undefined = object[name];
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]) as readonly Value[];
}

function plainPart(
  objects: readonly PlainObject[],
  definitions: readonly PropertyDefinition[],
  { name, distribution, topOccurrences = 0 }: AggregatedProperty,
  isWhole: boolean,
) {
  const kind = aggregatedKind(definitions.find((definition) => definition.name === name)?.dataType ?? []);
  const values = objects.flatMap((object) => valuesOf(object, name));
  const occurs = new Map<Value, number>();
  for (const value of values) occurs.set(value, 1 + (occurs.get(value) ?? 0));
  if (kind === "numbers") {
    const numbers = values.map(Number);
    const sum = new ExactSum();
    sum.addAll(numbers);
    return {
      kind,
      count: numbers.length,
      sum: sum.value(),
      minimum: numbers.length === 0 ? undefined : Math.min(...numbers),
      maximum: numbers.length === 0 ? undefined : Math.max(...numbers),
      distinct: distribution ? [...occurs].sort((a, b) => Number(a[0]) - Number(b[0])) : undefined,
    };
  }
  if (kind === "texts") {
    const all = [...occurs].sort((a, b) => b[1] - a[1] || compareUtf8(String(a[0]), String(b[0])));
    const distinct = isWhole ? all.slice(0, topOccurrences) : all;
    return { kind, count: values.length, distinct: topOccurrences === 0 ? undefined : distinct };
  }
  if (kind === "booleans") {
    return { kind, totalTrue: occurs.get(true) ?? 0, totalFalse: occurs.get(false) ?? 0 };
  }
  if (kind === "references") return { kind, count: values.length };
  const dates = values.map((text) => ({ instant: dateInstant(String(text)) ?? 0n, text: String(text) }));
  const byText = [...dates].sort((a, b) => compareUtf8(a.text, b.text));
  const ends = { minimum: byText[0], maximum: byText[0] };
  for (const date of byText) {
    if (ends.minimum !== undefined && date.instant < ends.minimum.instant) ends.minimum = date;
    if (ends.maximum !== undefined && date.instant > ends.maximum.instant) ends.maximum = date;
  }
  return { kind, count: dates.length, ...ends };
}

export function comparable(answer: ShardAggregate): readonly ComparableGroup[] {
  const groups = answer.map(({ groupedBy, objectCount, properties }) => ({
    groupedBy,
    objectCount,
    properties: properties.map((part) => {
      if (part.kind === "numbers") {
        const sum = new ExactSum();
        sum.addAll(part.sum);
        const counts = part.distinct?.counts;
        const distinct = part.distinct && Array.from(part.distinct.values, (value, at) => [value, counts?.[at]]);
        return { ...part, sum: sum.value(), distinct };
      }
      if (part.kind !== "texts" || part.distinct === undefined) return { ...part };
      const { values, counts } = part.distinct;
      const entries = values.map((value, at): [string, number] => [value, counts[at] ?? 0]);
      return { ...part, distinct: entries.sort((a, b) => b[1] - a[1] || compareUtf8(a[0], b[0])) };
    }),
  }));
  return inOrder(groups);
}
