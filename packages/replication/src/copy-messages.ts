import type { EpochTable, JournalPosition } from "./journal-position.js";
import type { LeadNumber } from "./node-leases.js";
import type { CopyName, ShardConfiguration } from "./shard-configuration.js";

/** The state of one object: what is stored, or undefined when it is deleted. Opaque to this package. */
export interface Change {
  readonly document: string;
  readonly row: unknown;
}

/** What copies of a shard send each other. All of it may be lost, late, doubled and out of order. */
export type CopyMessage =
  /** A copy says what it holds, until its primary has taken it up. */
  | {
      readonly type: "hello";
      readonly version: number;
      /** Which opening of the copy's store says so, and the how-manieth time. */
      readonly claim: string;
      readonly number: number;
      /** The session in which it is catching up, or has caught up. */
      readonly session: string | undefined;
      readonly end: JournalPosition;
      readonly epochs: EpochTable;
      /** Its journal names what changed after this sequence. */
      readonly base: number;
    }
  /** The primary of an epoch to copies in sync: follow me, and read only while I hold leases of `needs`. */
  | {
      readonly type: "lead";
      readonly epoch: number;
      /** Grows within the epoch. */
      readonly lead: number;
      /** Whose leases the primary needs, and has, with their numbers. */
      readonly needs: ReadonlyMap<string, number>;
      /** The run of the primary's process. */
      readonly run: string;
      /** The run of the process that shall follow: to a later one it says nothing. */
      readonly receiver: string;
      readonly committed: number;
      /** Of the primary's configuration. */
      readonly version: number;
      /** Where the primary's journal ended when its epoch began: whoever is in sync has that much. */
      readonly start: number;
    }
  | {
      readonly type: "led";
      readonly epoch: number;
      readonly lead: number;
      readonly end: JournalPosition;
    }
  /** The next commit. `committed`: the sequence up to which everything is acknowledged. */
  | {
      readonly type: "append";
      readonly epoch: number;
      readonly previous: JournalPosition;
      readonly changes: readonly Change[];
      readonly committed: number;
    }
  /** `session`: the one in which the sender caught up last. */
  | {
      readonly type: "appended";
      readonly epoch: number;
      readonly session: string | undefined;
      readonly end: JournalPosition;
    }
  | { readonly type: "committed"; readonly epoch: number; readonly sequence: number }
  /** The journal of the receiver does not go on where the sender's does. */
  | { readonly type: "gap"; readonly epoch: number; readonly end: JournalPosition }
  /** The receiver goes by a configuration that is over: that version is there. */
  | { readonly type: "stale"; readonly version: number }
  /** Catching up begins: what did you change after `common`? */
  | {
      readonly type: "begin";
      readonly epoch: number;
      readonly session: string;
      /** The hello that this answers. */
      readonly claim: string;
      readonly number: number;
      readonly common: JournalPosition;
    }
  | { readonly type: "begun"; readonly session: string; readonly documents: readonly string[] }
  /** Current rows, in document order. The first message of a session rolls back what follows `common`. */
  | {
      readonly type: "rows";
      readonly epoch: number;
      readonly session: string;
      readonly index: number;
      readonly common: JournalPosition;
      /** All rows come: what the copy holds goes first. */
      readonly isFull: boolean;
      readonly rows: readonly Change[];
      /** With the last message: where the journal then stands. Some rows may be as new as `through`. */
      readonly last:
        | { readonly end: JournalPosition; readonly epochs: EpochTable; readonly through: number }
        | undefined;
    }
  | { readonly type: "rowsDone"; readonly session: string; readonly index: number }
  /** Where does your journal end? The primary is silent, or is not open; `isOpen`: the sender was opened just now, and looks for others. */
  | { readonly type: "askEnd"; readonly version: number; readonly isOpen: boolean }
  | { readonly type: "end"; readonly version: number; readonly end: JournalPosition }
  /** Answer nothing on account of the lead `last`, nor of one before it. */
  | { readonly type: "revoke"; readonly last: LeadNumber; readonly version: number }
  | { readonly type: "revoked"; readonly version: number };

/** What a copy keeps about itself, durably, beside its rows and its journal. */
export interface CopyState {
  /** The version of the configuration that the copy was put into: what an older one says does not concern it. */
  readonly since: number;
  /** No primary of a lower epoch is followed. */
  readonly acceptedEpoch: number;
  readonly end: JournalPosition;
  readonly epochs: EpochTable;
  readonly base: number;
  /** Rows may be as new as this sequence; beyond `end`: the copy is incomplete, and answers for nothing. */
  readonly through: number;
}

export const INCOMPLETE = Number.MAX_SAFE_INTEGER;

/** One atomic, durable change of a copy's store. */
export interface CopyBatch {
  readonly state: CopyState;
  /** Entries of the journal from `first` on, and their rows. A row that is newer already stays. */
  readonly entries?: { readonly epoch: number; readonly first: number; readonly changes: readonly Change[] };
  /**
   * Rows of a catch-up. Their documents are remembered, over restarts too, until the copy is complete: should it stop in the
   * middle, they are rolled back with what follows `cutAfter` in the journal.
   */
  readonly rows?: { readonly rows: readonly Change[]; readonly cutAfter: number; readonly isFull: boolean };
}

export type CopyEffect =
  | { readonly type: "send"; readonly to: CopyName; readonly message: CopyMessage }
  /** Answered by `written` or `writeFailed`. There is one at a time. */
  | { readonly type: "write"; readonly write: number; readonly batch: CopyBatch }
  /** Answered by `proposed`. */
  | { readonly type: "propose"; readonly next: ShardConfiguration }
  /** Read the configuration from the MetaStore, linearly. */
  | { readonly type: "refresh" }
  /** Answered by `changes`: the documents of the journal after `after`, and those that a catch-up touched. */
  | { readonly type: "listChanges"; readonly session: string; readonly after: number }
  /**
   * The rows of `documents` and of the journal after `after`, or all of them. Answered by `rows` with the first ones, read at the
   * moment at which the documents were listed; `isWhole`: with all.
   */
  | {
      readonly type: "openRows";
      readonly session: string;
      /** Who gets them. */
      readonly to: CopyName;
      readonly after: number;
      readonly isFull: boolean;
      readonly isWhole: boolean;
      readonly documents: readonly string[];
    }
  /** Answered by `rows`. */
  | { readonly type: "nextRows"; readonly session: string }
  /** The commit that is under way is durable on all copies in sync: apply it, acknowledge it. */
  | { readonly type: "committed" }
  /** Nobody knows what becomes of the commit that was under way. */
  | { readonly type: "abandoned" }
  /**
   * A copy that catches up has changes that the primary does not have, and takes them back: they were not acknowledged, unless the
   * disk of the primary has lost them.
   */
  | { readonly type: "takesBack"; readonly copy: CopyName; readonly changes: number }
  /** The shard is not on this node any more. */
  | { readonly type: "discard" };

export type CopyEvent =
  | { readonly type: "configuration"; readonly configuration: ShardConfiguration }
  | { readonly type: "message"; readonly from: CopyName; readonly message: CopyMessage }
  | { readonly type: "written"; readonly write: number }
  /** The store takes no more writes until it is reopened. */
  | { readonly type: "writeFailed" }
  | {
      readonly type: "proposed";
      readonly outcome: "accepted" | "conflict" | "unknown";
      /** The one that is there now, where that is known. */
      readonly configuration: ShardConfiguration | undefined;
    }
  | { readonly type: "changes"; readonly session: string; readonly documents: readonly string[] }
  | {
      readonly type: "rows";
      readonly session: string;
      readonly rows: readonly Change[];
      readonly isLast: boolean;
      /** Where the journal ended, at the latest when the documents were listed. */
      readonly end: JournalPosition;
      /** They may be as new as this sequence. */
      readonly through: number;
    }
  /** What `openRows` or `nextRows` has asked for cannot be had: the session ends. */
  | { readonly type: "rowsFailed"; readonly session: string }
  /** Nothing came from `node` for `silenceMs`, or no lease for `leaseMs`. Repeated while it lasts. */
  | { readonly type: "silent"; readonly node: string }
  /** A commit; only while `commitFault` is undefined. */
  | {
      readonly type: "commit";
      readonly changes: readonly Change[];
      /** So much longer than for a small commit is a copy waited for whose node is heard. Absent: not longer. */
      readonly workMs?: number;
    }
  /** Let another copy be primary. */
  | { readonly type: "handOver" }
  /** The time that `wakeAt` names has come. */
  | { readonly type: "wake" };
