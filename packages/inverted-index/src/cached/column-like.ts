import type { ColumnValue } from "../records/column-chunk.js";

/** What a commit makes of one document's values; undefined: it has none. */
export interface ColumnChange {
  readonly document: number;
  readonly value: ColumnValue | undefined;
}

/** Values of documents in memory. */
export interface ColumnLike {
  /** About what it takes in memory. */
  readonly bytes: number;
  valueOf(document: number): ColumnValue | undefined;
  set(change: ColumnChange): void;
}
