import type { Json } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";

/** All extensions at one version. Never changed: a later one is another one. */
export interface ExtensionsSnapshot {
  /** Versions of one history only grow; those of two cannot be compared. */
  readonly historyId: string;
  readonly version: number;
  /** A value that a later snapshot has as well is the same object there. */
  readonly entries: ReadonlyMap<string, Json>;
}

/** What modules keep for all processes, with the schema. Asking fails with `unavailable` when no coordinator can be reached. */
export interface ExtensionService {
  /**
   * Durable when it resolves, and told to the watchers of this process. Fails with `tooLarge` on what cannot be stored. When
   * it fails with `unavailable` the value may have been stored.
   */
  put(key: string, value: Json, context: RequestContext): Promise<void>;
  /** With every value whose `put` resolved, through whatever process, before this was called. */
  list(context: RequestContext): Promise<ExtensionsSnapshot>;
  /** Calls `listener` with what is known and then with every later snapshot, in order, until disposed of. */
  watchExtensions(listener: (snapshot: ExtensionsSnapshot) => void): Disposable;
}
