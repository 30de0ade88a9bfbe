// Aggregations by plain loops: what one shard says, and what all objects together must give.

import {
  type AggregatedProperty,
  type AggregateGroup,
  type AggregateQuery,
  aggregatedKind,
  dateInstant,
  ExactSum,
  type GroupPart,
  groupText,
  type Json,
  nanosecondsOf,
  type PropertyAggregate,
  type PropertyDefinition,
  type PropertyPart,
  type ShardAggregate,
  type ShardAggregation,
} from "@shoal/model";

export type PlainObject = Readonly<Record<string, Json>>;

type Value = string | number | boolean;

export function valuesOf(object: PlainObject, name: string): readonly Value[] {
  const value = object[name];
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]) as readonly Value[];
}

/** Objects by group, in the order of first sight; one group of everything without `groupBy`. */
function groupsOf(
  objects: readonly PlainObject[],
  groupBy: string | undefined,
): ReadonlyMap<Value | undefined, readonly PlainObject[]> {
  if (groupBy === undefined) return new Map([[undefined, objects]]);
  const groups = new Map<Value, PlainObject[]>();
  for (const object of objects) {
    for (const value of new Set(valuesOf(object, groupBy))) {
      const group = groups.get(value) ?? [];
      group.push(object);
      groups.set(value, group);
    }
  }
  return groups;
}

function occurrences(values: readonly Value[]): ReadonlyMap<Value, number> {
  const occurs = new Map<Value, number>();
  for (const value of values) occurs.set(value, 1 + (occurs.get(value) ?? 0));
  return occurs;
}

/** What one shard answers. */
export function plainParts(
  objects: readonly PlainObject[],
  properties: readonly PropertyDefinition[],
  aggregation: Pick<ShardAggregation, "groupBy" | "properties">,
): ShardAggregate {
  const parts: GroupPart[] = [];
  for (const [groupedBy, members] of groupsOf(objects, aggregation.groupBy)) {
    parts.push({
      groupedBy,
      objectCount: members.length,
      properties: aggregation.properties.map((wanted) => plainPart(members, properties, wanted)),
    });
  }
  return parts;
}

function plainPart(
  objects: readonly PlainObject[],
  properties: readonly PropertyDefinition[],
  { name, distribution }: AggregatedProperty,
): PropertyPart {
  const values = objects.flatMap((object) => valuesOf(object, name));
  const kind = kindOf(properties, name);
  if (kind === "numbers") {
    const numbers = values as readonly number[];
    const sum = new ExactSum();
    sum.addAll(numbers);
    const sorted = [...occurrences(numbers)].sort((a, b) => Number(a[0]) - Number(b[0]));
    return {
      kind,
      count: values.length,
      sum: sum.parts(),
      minimum: numbers.length === 0 ? undefined : Math.min(...numbers),
      maximum: numbers.length === 0 ? undefined : Math.max(...numbers),
      distinct: distribution
        ? {
            values: Float64Array.from(sorted, ([value]) => Number(value)),
            counts: Float64Array.from(sorted, ([, count]) => count),
          }
        : undefined,
    };
  }
  if (kind === "texts") {
    const occurs = occurrences(values);
    const distinct = { values: [...occurs.keys()].map(String), counts: [...occurs.values()] };
    return { kind, count: values.length, distinct };
  }
  if (kind === "booleans") {
    const totalTrue = values.filter((value) => value === true).length;
    return { kind, totalTrue, totalFalse: values.length - totalTrue };
  }
  if (kind === "references") return { kind, count: values.length };
  const dates = values.map((text) => {
    const instant = dateInstant(String(text));
    return { instant: instant === undefined ? 0n : nanosecondsOf(instant), text: String(text) };
  });
  return {
    kind: "dates",
    count: dates.length,
    minimum: [...dates].sort((a, b) => Number(a.instant - b.instant) || bytewise(a.text, b.text))[0],
    maximum: [...dates].sort((a, b) => Number(b.instant - a.instant) || bytewise(a.text, b.text))[0],
  };
}

/** What the query must answer: all objects in one list. */
export function plainAggregate(
  objects: readonly PlainObject[],
  properties: readonly PropertyDefinition[],
  query: AggregateQuery,
): readonly AggregateGroup[] {
  const [groupBy] = query.groupBy ?? [];
  const groups = [...groupsOf(objects, groupBy)].map(([value, members]) => ({
    groupedBy: value === undefined ? undefined : groupText(value),
    objectCount: members.length,
    properties: query.properties.map((wanted) => plainFigures(members, properties, wanted)),
  }));
  if (groupBy === undefined) return groups;
  return groups
    .sort((a, b) => b.objectCount - a.objectCount || bytewise(a.groupedBy ?? "", b.groupedBy ?? ""))
    .slice(0, query.limit ?? 100);
}

function plainFigures(
  objects: readonly PlainObject[],
  properties: readonly PropertyDefinition[],
  wanted: AggregatedProperty,
): PropertyAggregate {
  const part = plainPart(objects, properties, wanted);
  switch (part.kind) {
    case "numbers": {
      const values = objects.flatMap((object) => valuesOf(object, wanted.name)) as readonly number[];
      const sorted = [...values].sort((a, b) => a - b);
      const [mode] = [...occurrences(sorted)].sort((a, b) => b[1] - a[1] || Number(a[0]) - Number(b[0]));
      const sum = new ExactSum();
      sum.addAll(values);
      return {
        kind: "numbers",
        count: values.length,
        sum: sum.value(),
        minimum: sorted[0],
        maximum: sorted.at(-1),
        mean: values.length === 0 ? undefined : sum.mean(values.length),
        median: wanted.distribution ? sorted[Math.ceil(values.length / 2) - 1] : undefined,
        mode: wanted.distribution && mode !== undefined ? Number(mode[0]) : undefined,
      };
    }
    case "texts": {
      const { values = [], counts = [] } = part.distinct ?? {};
      const top = values
        .map((value, at) => ({ value, occurs: counts[at] ?? 0 }))
        .sort((a, b) => b.occurs - a.occurs || bytewise(a.value, b.value));
      return { kind: "texts", count: part.count, topOccurrences: top.slice(0, wanted.topOccurrences ?? 0) };
    }
    case "booleans":
      return { ...part, count: part.totalTrue + part.totalFalse };
    case "dates":
      return { kind: "dates", count: part.count, minimum: part.minimum?.text, maximum: part.maximum?.text };
    case "references":
      return part;
  }
}

function kindOf(properties: readonly PropertyDefinition[], name: string): PropertyAggregate["kind"] | undefined {
  return aggregatedKind(properties.find((property) => property.name === name)?.dataType ?? []);
}

function bytewise(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
