import { aggregatedKind, type PropertyDefinition, type ShardAggregation } from "@shoal/model";
import type { Work } from "@shoal/runtime";
import { instantOf } from "../analysis/instant.js";
import type { IndexedProperty } from "../analysis/property-kind.js";
import { isUtcDate, utcDate } from "../analysis/utc-date.js";
import { notIndexed } from "../index-place.js";
import { type AggregateScope, eachDocument } from "./aggregate-source.js";
import { eachDate } from "./date-values.js";
import { ChosenGroups, ValueCounter } from "./group-counts.js";
import type { Group, GroupTable, GroupValue } from "./groups.js";
import { TextValues } from "./text-values.js";
import { readable } from "./unindexed-values.js";

/** Groups that are answered, and how to find out which documents are in them. */
export interface Grouping {
  readonly groups: readonly Group[];
  /** Tells the table which documents are in the groups. */
  assign(table: GroupTable): Work<void>;
}

/** Puts documents into groups by the values of a property; a document with a list is in a group for each of its values. */
export function* groupBy(
  given: AggregateScope,
  aggregation: ShardAggregation,
  definition: PropertyDefinition,
): Work<Grouping> {
  const { property, scope } = yield* readable(given, definition);
  const chosen = new ChosenGroups(scope, aggregation);
  const kind = aggregatedKind(definition.dataType);
  if (kind === "texts") return yield* groupByText(scope, property, chosen);
  if (property.kind === "number") return yield* groupByNumber(scope, property, chosen);
  if (property.kind === "boolean") return yield* groupByBoolean(scope, property, chosen);
  if (property.kind === "date") return yield* groupByDate(scope, property, chosen);
  throw notIndexed(property.name);
}

function* groupByText(scope: AggregateScope, property: IndexedProperty, chosen: ChosenGroups): Work<Grouping> {
  const values = yield* TextValues.open(scope, property);
  yield* values.each((value) => chosen.offer(value.value, value.documentCount()), false);
  const groups = yield* chosen.finish();
  return {
    groups,
    *assign(table) {
      for (const [group, { value, objectCount }] of groups.entries()) {
        values.of(String(value)).each((document) => table.add(document, group));
        scope.yielder.count(objectCount * ASSIGN_STEPS);
        if (scope.yielder.isDue) yield scope.yielder.pause();
      }
    },
  };
}

const ASSIGN_STEPS = 10;

function* groupByNumber(scope: AggregateScope, property: IndexedProperty, chosen: ChosenGroups): Work<Grouping> {
  const column = yield* scope.source.column(property);
  const present = () => (scope.isAll ? column.present : column.present.copy().and(scope.documents));
  const counter = new ValueCounter(scope);
  yield* eachDocument(present(), scope.yielder, (document) => {
    const several = column.several(document);
    if (several === undefined) counter.addNumber(column.first(document));
    else for (const value of new Set(several)) counter.addNumber(value);
  });
  yield* counter.each((value, count) => chosen.offer(value, count));
  const groups = yield* chosen.finish();
  return {
    groups,
    *assign(table) {
      const places = placesOf(groups, ({ value }) => value);
      const add = (document: number, value: number) => {
        const group = places.get(value);
        if (group !== undefined) table.add(document, group);
      };
      yield* eachDocument(present(), scope.yielder, (document) => {
        const several = column.several(document);
        if (several === undefined) add(document, column.first(document));
        else for (const value of several) add(document, value);
      });
    },
  };
}

function* groupByBoolean(scope: AggregateScope, property: IndexedProperty, chosen: ChosenGroups): Work<Grouping> {
  const flags = yield* scope.source.flags(property);
  const members = (value: GroupValue) => {
    const all = flags.documents(value === true ? "true" : "false");
    return scope.isAll ? all : all.copy().and(scope.documents);
  };
  for (const value of [true, false]) chosen.offer(value, members(value).size);
  const groups = yield* chosen.finish();
  return {
    groups,
    *assign(table) {
      for (const [group, { value }] of groups.entries()) {
        yield* eachDocument(members(value), scope.yielder, (document) => table.add(document, group));
      }
    },
  };
}

function* groupByDate(scope: AggregateScope, property: IndexedProperty, chosen: ChosenGroups): Work<Grouping> {
  const counter = new ValueCounter(scope);
  const seen = new Set<DateKey>();
  let seenOf = -1;
  yield* eachDate(scope, property, (document, milliseconds, rest, text) => {
    if (document !== seenOf) seen.clear();
    seenOf = document;
    const key = dateKey(milliseconds, rest, text);
    if (seen.has(key)) return;
    seen.add(key);
    if (typeof key === "number") counter.addNumber(key);
    else counter.addText(key);
  });
  yield* counter.each((key, count) => {
    chosen.offer(typeof key === "number" ? utcDate({ milliseconds: key, rest: 0 }) : key, count);
  });
  const groups = yield* chosen.finish();
  return {
    groups,
    *assign(table) {
      const places = placesOf(groups, ({ value }) => keyOfText(String(value)));
      yield* eachDate(scope, property, (document, milliseconds, rest, text) => {
        const group = places.get(dateKey(milliseconds, rest, text));
        if (group !== undefined) table.add(document, group);
      });
    },
  };
}

/** Stands for the text of a date: the milliseconds of one in UTC without a rest, which most are; else the text. */
type DateKey = number | string;

function dateKey(milliseconds: number, rest: number, text: string | undefined): DateKey {
  if (text === undefined) return rest === 0 ? milliseconds : utcDate({ milliseconds, rest });
  return rest === 0 && isUtcDate(text) ? milliseconds : text;
}

function keyOfText(text: string): DateKey {
  const { milliseconds, rest } = instantOf(text);
  return dateKey(milliseconds, rest, text);
}

function placesOf<Key>(groups: readonly Group[], keyOf: (group: Group) => Key): ReadonlyMap<Key, number> {
  return new Map(groups.map((group, at) => [keyOf(group), at]));
}
