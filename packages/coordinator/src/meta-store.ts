import type { Json } from "@shoal/model";

/** Everything that is stored, at one revision. */
export interface MetaState {
  /** Grows by one with every commit; 0 when nothing was ever committed. */
  readonly revision: number;
  readonly entries: ReadonlyMap<string, Json>;
}

/** One key's new value; undefined removes it. */
export interface MetaChange {
  readonly key: string;
  readonly value: Json | undefined;
}

/**
 * A few thousand small JSON values that all coordinators agree on. Commits are compare-and-set on the revision, so that
 * several coordinators may write at once and history stays one line.
 */
export interface MetaStore extends AsyncDisposable {
  /** Drawn when the store was made: tells this line of revisions from one that began anew after a loss. */
  readonly historyId: string;
  load(): Promise<MetaState>;
  /**
   * Applies all changes and returns the new revision, durable; undefined, and nothing changed, when `expectedRevision`
   * is not the current one.
   */
  commit(expectedRevision: number, changes: readonly MetaChange[]): Promise<number | undefined>;
}
