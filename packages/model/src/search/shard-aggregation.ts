import type { ShardFilter } from "../filters/where-filter.js";
import type { AggregatedProperty } from "./aggregation.js";

/** The aggregation of one shard: what it answers can be merged exactly with the responses of others. */
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
  /** What groups and distinct values may take in memory, as `bytesOfAggregate` counts them; `tooLarge` beyond. */
  readonly bytesMax: number;
}

/** How often each distinct number occurs; ascending, without doubles, and without -0. */
export interface DistinctNumbers {
  readonly values: Float64Array;
  /** As many as values. */
  readonly counts: Float64Array;
}

/** How often each distinct text occurs, in no order. */
export interface DistinctTexts {
  readonly values: readonly string[];
  /** As many as values. */
  readonly counts: readonly number[];
}

export type PropertyPart =
  | {
      readonly kind: "numbers";
      readonly count: number;
      /** Parts of an `ExactSum`. */
      readonly sum: readonly number[];
      readonly minimum: number | undefined;
      readonly maximum: number | undefined;
      /** When the distribution is wanted. */
      readonly distinct: DistinctNumbers | undefined;
    }
  | { readonly kind: "texts"; readonly count: number; readonly distinct: DistinctTexts | undefined }
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
