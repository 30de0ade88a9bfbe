import type { Change } from "./copy-messages.js";
import type { JournalPosition } from "./journal-position.js";

/** A commit on its way. */
export interface Commit {
  readonly previous: JournalPosition;
  readonly end: JournalPosition;
  readonly changes: readonly Change[];
  /** So much longer may a copy take for it than for a small one. */
  readonly workMs: number;
}
