import type { Share } from "@shoal/fair-share";

/** What bytes are counted for: rows, or groups and distinct values. Messages name it. */
export type HeldKind = "rows" | "aggregation";

/** Counts the bytes that the rows of an answer hold, and what is held to aggregate. */
export interface RowBytes {
  /**
   * So many more are held, `rows` when absent. Fails when there is no room: the read ends then. Fewer are held when it is
   * negative; that never fails.
   */
  add(bytes: number, kind?: HeldKind): void;
}

/** What bounds a read, beside what it asks for, and for whom it is. */
export interface ReadBounds {
  /** For whom it takes turns and memory. It does not leave the process. */
  readonly share?: Share | undefined;
  /** Looked at between the turns of a long read. */
  readonly signal?: AbortSignal | undefined;
  /** Asked before rows are read and told how large they were. Nothing is counted when absent. */
  readonly rowBytes?: RowBytes | undefined;
}
