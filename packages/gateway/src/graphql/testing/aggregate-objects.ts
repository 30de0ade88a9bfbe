import {
  type AggregatedProperty,
  type AggregateGroup,
  type AggregateQuery,
  decodeProperties,
  type PropertyAggregate,
  type StoredObject,
} from "@shoal/model";

/** What a query service answers, by a plain loop; what was not asked for is left out or wrong on purpose. */
export function aggregateObjects(objects: readonly StoredObject[], query: AggregateQuery): readonly AggregateGroup[] {
  const rows = objects.map((object) => decodeProperties(object) as Readonly<Record<string, unknown>>);
  if (query.groupBy === undefined) return [group(undefined, rows, query)];
  const groups = new Map<string, Readonly<Record<string, unknown>>[]>();
  for (const row of rows) {
    for (const value of new Set(valuesOf(row, query.groupBy[0] ?? "").map(String))) {
      groups.set(value, [...(groups.get(value) ?? []), row]);
    }
  }
  return [...groups.entries()].slice(0, query.limit ?? 100).map(([value, members]) => group(value, members, query));
}

function group(
  groupedBy: string | undefined,
  rows: readonly Readonly<Record<string, unknown>>[],
  query: AggregateQuery,
): AggregateGroup {
  const properties = query.properties.map((property) =>
    aggregate(
      property,
      rows.flatMap((row) => valuesOf(row, property.name)),
    ),
  );
  return { groupedBy, objectCount: rows.length, properties };
}

function valuesOf(row: Readonly<Record<string, unknown>>, name: string): readonly unknown[] {
  const value = row[name];
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

function aggregate(asked: AggregatedProperty, values: readonly unknown[]): PropertyAggregate {
  const count = values.length;
  if (asked.booleans) {
    const totalTrue = values.filter((value) => value === true).length;
    return { kind: "booleans", count, totalTrue, totalFalse: count - totalTrue };
  }
  const sorted = [...values].sort((a, b) => ((a as number) < (b as number) ? -1 : 1));
  if (asked.dates) {
    const [minimum, maximum] = [sorted[0], sorted.at(-1)] as (string | undefined)[];
    return { kind: "dates", count, minimum, maximum };
  }
  if (asked.numbers || asked.distribution) {
    const numbers = sorted as readonly number[];
    const sum = asked.numbers ? numbers.reduce((all, each) => all + each, 0) : -1;
    return {
      kind: "numbers",
      count,
      sum,
      minimum: asked.numbers ? numbers[0] : -1,
      maximum: asked.numbers ? numbers.at(-1) : -1,
      mean: asked.numbers ? (count === 0 ? undefined : sum / count) : -1,
      median: asked.distribution ? numbers[Math.ceil(count / 2) - 1] : undefined,
      mode: asked.distribution ? numbers[0] : undefined,
    };
  }
  const occurs = new Map<string, number>();
  for (const value of values) occurs.set(String(value), (occurs.get(String(value)) ?? 0) + 1);
  const topOccurrences = [...occurs].map(([value, times]) => ({ value, occurs: times }));
  return { kind: "texts", count, topOccurrences: topOccurrences.slice(0, asked.topOccurrences ?? 0) };
}
