import type { ShardFilter } from "../filters/where-filter.js";
import type { AggregatedProperty } from "./aggregation.js";

/** The aggregation of one shard: what it answers can be merged exactly with the answers of others. */
export interface ShardAggregation {
  readonly filter: ShardFilter | undefined;
  readonly groupBy: string | undefined;
  readonly properties: readonly AggregatedProperty[];
  /**
   * True when no other shard has a say: the shard may then answer only the `groupsMax` largest groups (equal ones by
   * `groupedBy`, as UTF-8), and of texts only the top occurrences.
   */
  readonly isWhole: boolean;
  readonly groupsMax: number;
}

/** How often each distinct value occurs, in no order. */
export interface ValueCounts<Value> {
  readonly values: readonly Value[];
  readonly counts: readonly number[];
}

export type PropertyPart =
  | {
      readonly kind: "numbers";
      readonly count: number;
      /** Floats whose exact sum is the sum of the values, so that the order of adding does not matter. */
      readonly sum: readonly number[];
      readonly minimum: number | undefined;
      readonly maximum: number | undefined;
      /** When the distribution is wanted. */
      readonly distinct: ValueCounts<number> | undefined;
    }
  | { readonly kind: "texts"; readonly count: number; readonly distinct: ValueCounts<string> | undefined }
  | { readonly kind: "booleans"; readonly totalTrue: number; readonly totalFalse: number }
  | {
      readonly kind: "dates";
      readonly count: number;
      /** Instant in nanoseconds since 1970 and the text that is stored; of equal instants the smaller text. */
      readonly minimum: { readonly instant: bigint; readonly text: string } | undefined;
      readonly maximum: { readonly instant: bigint; readonly text: string } | undefined;
    }
  | { readonly kind: "references"; readonly count: number };

export interface GroupPart {
  /** Undefined when there is no `groupBy`. */
  readonly groupedBy: string | number | boolean | undefined;
  readonly objectCount: number;
  readonly properties: readonly PropertyPart[];
}

/** Without `groupBy` exactly one part. */
export type ShardAggregate = readonly GroupPart[];
