import type { Json } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";

/** A version of what coordinators keep. */
export interface Position {
  /**
   * Drawn at each start of a coordinator: what is stored may have been put back to an earlier version, so that versions of
   * different histories say nothing about each other, unless one goes on from the other.
   */
  readonly historyId: string;
  /** Grows with every change. */
  readonly version: number;
}

/** Small JSON values by key, all of them at one version. Never changed: a later version is another snapshot. */
export interface EntriesSnapshot extends Position {
  /** A value that a later snapshot has as well is the same object there. */
  readonly entries: ReadonlyMap<string, Json>;
}

/** Tells what is known of a value, and every later one. */
export interface WatchService<Value> {
  /**
   * Calls `listener` with the value that is known (none yet when no coordinator was reached so far) and then with every
   * later one, in order, until the returned subscription is disposed of; values that follow each other quickly may be
   * passed over. A change is answered to its caller after the listeners of the caller's process have been called.
   */
  watch(listener: (value: Value) => void): Disposable;
}

/** What coordinators keep in versions. Asking fails with `unavailable` when none can be reached. */
export interface SnapshotService<Snapshot extends Position> extends WatchService<Snapshot> {
  /** At least as new as every change that was answered, by any coordinator, before this was called. */
  current(context: RequestContext): Promise<Snapshot>;
}
