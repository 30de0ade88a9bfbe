import type { WhereFilter } from "../filters/where-filter.js";

/** What is wanted of a property. Whether it has a type for that is checked by the planner. */
export interface AggregatedProperty {
  readonly name: string;
  /** Of numbers: minimum, maximum, sum, mean. */
  readonly numbers: boolean;
  /** Of numbers: median and mode, which need all distinct values. */
  readonly distribution: boolean;
  /** Of texts: the most frequent whole values, so many of them; undefined: not wanted. */
  readonly topOccurrences: number | undefined;
  /** Of dates: the earliest and the latest. */
  readonly dates: boolean;
  /** Of booleans: how often true and false. */
  readonly booleans: boolean;
}

/** Groups of an aggregation that names no limit (reference-graphql 4.1). */
export const AGGREGATE_GROUPS_DEFAULT = 100;

/** One `Aggregate { Class(…) { … } }`, free of GraphQL. `count` of a property is always answered. */
export interface AggregateQuery {
  readonly className: string;
  readonly where: WhereFilter | undefined;
  /** As given: one primitive property, or something that is refused. */
  readonly groupBy: readonly string[] | undefined;
  /** Most groups; `AGGREGATE_GROUPS_DEFAULT` when undefined; without meaning when there is no `groupBy`. */
  readonly limit: number | undefined;
  readonly properties: readonly AggregatedProperty[];
}

export interface NumbersAggregate {
  /** Values, elements of arrays counted each. */
  readonly count: number;
  /** The exact sum, rounded once; 0 for none, infinite beyond float64, which becomes null at the edge. */
  readonly sum: number;
  /** Undefined for none, as the others below; all of them are finite. */
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly mean: number | undefined;
  /** The lower middle of an even count; only when asked for. */
  readonly median: number | undefined;
  /** The smallest of the most frequent; only when asked for. */
  readonly mode: number | undefined;
}

export interface TextsAggregate {
  readonly count: number;
  /** Most frequent first, equally frequent ones by their UTF-8 bytes. */
  readonly topOccurrences: readonly { readonly value: string; readonly occurs: number }[];
}

export interface BooleansAggregate {
  readonly count: number;
  readonly totalTrue: number;
  readonly totalFalse: number;
}

export interface DatesAggregate {
  readonly count: number;
  /** As stored; the earliest and the latest instant. */
  readonly minimum: string | undefined;
  readonly maximum: string | undefined;
}

export type PropertyAggregate =
  | ({ readonly kind: "numbers" } & NumbersAggregate)
  | ({ readonly kind: "texts" } & TextsAggregate)
  | ({ readonly kind: "booleans" } & BooleansAggregate)
  | ({ readonly kind: "dates" } & DatesAggregate)
  /** References: how many there are. */
  | { readonly kind: "references"; readonly count: number };

/** One group, or everything when there is no `groupBy`. */
export interface AggregateGroup {
  /** The value that the objects of the group share, as text: numbers in their shortest form, booleans `true`, `false`. */
  readonly groupedBy: string | undefined;
  readonly objectCount: number;
  /** In the order of the query's properties. */
  readonly properties: readonly PropertyAggregate[];
}
