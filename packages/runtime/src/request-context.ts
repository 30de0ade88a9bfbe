import type { ClassRights } from "@shoal/model";

/**
 * For whom something is taken. Owners get equal parts, whatever number of connections they open; within an owner its
 * connections get equal parts.
 */
export interface Share {
  /** A user, or the address of a client without a name. */
  readonly owner: string;
  readonly connection: number;
}

/** Of work that no client asked for. */
export const NOBODY: Share = { owner: "", connection: 0 };

/** What bytes are counted for: rows, or groups and distinct values. Messages name it. */
export type HeldKind = "rows" | "aggregation";

/** Counts the bytes that the rows of a response hold, and what is held to aggregate. */
export interface RowBytes {
  /**
   * So many more are held, `rows` when absent. Fails when there is no room: the read ends then. Fewer are held when it is
   * negative; that never fails.
   */
  add(bytes: number, kind?: HeldKind): void;
}

/** What bounds work, beside what it does, and for whom it is. */
export interface WorkBounds {
  /** For whom it takes steps and memory. It does not leave the process: a storage node makes one of the request's id. */
  readonly share?: Share | undefined;
  /** Checked between the steps of long work. Asking for it may make it, which costs as much as a small request. */
  readonly signal?: AbortSignal | undefined;
  /** Asked before rows are read, and given their size. Nothing is counted when absent. */
  readonly rowBytes?: RowBytes | undefined;
}

/** What travels with every internal request; `rowBytes`, `waitMsMax`, `readsPrimary`, `observer`, `share` and `rights` do not leave the process. */
export interface RequestContext extends WorkBounds {
  /** Milliseconds since 1970 after which nobody waits for the response any more. */
  readonly deadline: number;
  /** What log lines about it are found by; printable, at most 128 characters. */
  readonly requestId?: string | undefined;
  /**
   * Of a read whose response is of use only when it comes within so many milliseconds: a node that is known to be away is not
   * waited for at all.
   */
  readonly waitMsMax?: number | undefined;
  /** Whether reads that any copy of a shard may answer are answered by its primary. Absent: no. */
  readonly readsPrimary?: boolean | undefined;
  /** Hears what the request does; absent: nobody asks. */
  readonly observer?: RequestObserver | undefined;
  /** What whoever asks may do to the objects of classes; absent: everything. */
  readonly rights?: ClassRights | undefined;
}

/**
 * Hears what a request does that its response does not say: the audit log. Whoever knows a fact reports it at once; nothing that
 * is reported is a value that a client has stored.
 */
export interface RequestObserver {
  /** What the request is about, as far as its path does not say it: `class`, `id`, `property`, `role`, `roles`, … */
  concerns(what: string, names: string | readonly string[]): void;
  /** Objects or references of a class that were written, and that were refused. Undefined: the class is not known. */
  wrote(className: string | undefined, accepted: number, refused: number): void;
  /** Auto-schema has made a class, or has added these properties to one; `isUnknown`: or has not, nobody knows. */
  madeSchema(className: string, properties: readonly string[], isNew: boolean, isUnknown: boolean): void;
  /** The principal lacks the right to a part of what the request asked for, which is answered all the same. */
  denied(action: string, resource: string): void;
}
