import type { Json } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";

/** Everything that is stored, at one revision. Never changed: a later state is another one. */
export interface MetaState {
  /** Grows by one with every commit; 0 when nothing was ever committed. */
  readonly revision: number;
  /** A value that a later state has as well is the same object there. */
  readonly entries: ReadonlyMap<string, Json>;
}

/** One key's new value; undefined removes it. */
export interface MetaChange {
  readonly key: string;
  readonly value: Json | undefined;
}

/**
 * A few thousand small JSON values that all coordinators agree on. Commits are compare-and-set on the revision, so that
 * several coordinators may write at once and history stays one line. `load` and `commit` fail with `unavailable` when
 * the store cannot be reached, within about a second and never after the deadline of their context.
 */
export interface MetaStore extends AsyncDisposable {
  /** Drawn when the store was made: tells this line of revisions from one that began again after a loss. */
  readonly historyId: string;
  /** At least as new as every commit, by anybody, that had resolved before this was called. */
  load(context: RequestContext): Promise<MetaState>;
  /**
   * Applies all changes and returns the new revision, durable, after the listeners of this object have seen it;
   * undefined, and nothing changed, when `expectedRevision` is not the current one. Fails with `tooLarge` on what the
   * store cannot hold, and nothing is changed then. When it fails with `unavailable`, the changes may have been made.
   */
  commit(
    expectedRevision: number,
    changes: readonly MetaChange[],
    context: RequestContext,
  ): Promise<number | undefined>;
  /** Calls `listener` with every later state, in order, until disposed of; some may be passed over. */
  watch(listener: (state: MetaState) => void): Disposable;
}

/** The state after a commit. */
export function stateAfter({ revision, entries }: MetaState, changes: readonly MetaChange[]): MetaState {
  const after = new Map(entries);
  for (const { key, value } of changes) {
    if (value === undefined) after.delete(key);
    else after.set(key, value);
  }
  return { revision: revision + 1, entries: after };
}

/** The entries whose keys begin with `prefix`, by what follows it. */
export function* entriesUnder(prefix: string, { entries }: MetaState): Generator<readonly [rest: string, value: Json]> {
  for (const [key, value] of entries) if (key.startsWith(prefix)) yield [key.slice(prefix.length), value];
}
