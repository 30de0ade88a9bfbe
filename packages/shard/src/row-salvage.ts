import type { KeyHistory } from "@shoal/kv";
import type { IdTable } from "./id-table.js";

/** What is known of the objects of a damaged shard beside their rows. */
export interface RowEvidence {
  /** The last snapshot of the id table, and the change that it has reached. */
  readonly table: IdTable | undefined;
  readonly tableSequence: number;
  /** The store has seen all that the table has; else one of the two may be from a back-up, and the table proves no deletion. */
  readonly isTableOfStore: boolean;
  /** Whether values of the row may be lost with what is damaged. */
  readonly mayHaveLostAny: (key: Uint8Array) => boolean;
  /** Whether a newer value than `written` may be lost with damaged tables. */
  readonly mayHaveLostNewer: (key: Uint8Array, written: number) => boolean;
}

/**
 * - `kept`: the newest that there is. `stale`: a newer one existed and is lost. `doubtful`: a newer one, or its deletion,
 *   may be lost.
 * - `deleted`: there is a row, and a proof that its object was deleted after it was written.
 * - `lost`: the object existed, and has no row, or one from before a deletion.
 * - `none`: there is neither.
 */
export type RowVerdict = "kept" | "stale" | "doubtful" | "deleted" | "lost" | "none";

/** A journal entry as the note of a row's key: the greatest is that of the last change. */
export function noteOf(sequence: number, isDeletion: boolean): number {
  return sequence * 2 + (isDeletion ? 1 : 0);
}

/**
 * What becomes of a row. Proofs of a deletion are the journal's entry of it, the deletion in a whole file, and that an id
 * table which has seen the row's change does not have the id.
 */
export function judgeRow(history: KeyHistory, rawId: Uint8Array, evidence: RowEvidence): RowVerdict {
  return history.rank >= 0 ? judgeValue(history, rawId, evidence) : judgeMissing(history, rawId, evidence);
}

function judgeValue(history: KeyHistory, rawId: Uint8Array, evidence: RowEvidence): RowVerdict {
  const { key, rank, written, deleted, damaged, note } = history;
  const { table, tableSequence } = evidence;
  const journaled = Math.floor(note / 2);
  const isNewer = journaled > rank;
  if (isNewer && isDeletion(note)) return "deleted";
  if (deleted > written) return isNewer ? "lost" : "deleted";
  const wasGone = table !== undefined && rank <= tableSequence && table.findRaw(rawId) < 0;
  if (wasGone && !evidence.isTableOfStore) return "doubtful";
  if (wasGone) return journaled > tableSequence ? "lost" : "deleted";
  if (isNewer || damaged > written) return "stale";
  return evidence.mayHaveLostNewer(key, written) ? "doubtful" : "kept";
}

function judgeMissing(history: KeyHistory, rawId: Uint8Array, evidence: RowEvidence): RowVerdict {
  const { key, deleted, damaged, note } = history;
  const wasThere = evidence.table !== undefined && evidence.table.findRaw(rawId) >= 0;
  const journaled = Math.floor(note / 2);
  if (isDeletion(note) && !(wasThere && evidence.tableSequence > journaled)) return "none";
  if (damaged > deleted) return "lost";
  if (deleted >= 0 || !(wasThere || note >= 0)) return "none";
  return evidence.mayHaveLostAny(key) ? "lost" : "none";
}

function isDeletion(note: number): boolean {
  return note >= 0 && note % 2 === 1;
}
