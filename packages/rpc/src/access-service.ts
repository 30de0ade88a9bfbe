import type { Json } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";

/** A state of the roles, the assignments and the users made at run time. */
export interface AccessPosition {
  /** Versions of one history only grow; those of two cannot be compared. */
  readonly historyId: string;
  readonly version: number;
}

/** All of it at one version. Never changed: a later state is another one. */
export interface AccessSnapshot extends AccessPosition {
  /** A value that a later snapshot has as well is the same object there. */
  readonly entries: ReadonlyMap<string, Json>;
}

/** One key's new value; undefined removes it. */
export interface AccessChange {
  readonly key: string;
  readonly value: Json | undefined;
}

/**
 * Who may do what, as all gateways know it. What the keys and values mean is the gateways' business. Asking fails with
 * `unavailable` when no coordinator can be reached.
 */
export interface AccessService {
  /** With every change that was answered, through whatever process, before this was called. */
  current(context: RequestContext): Promise<AccessSnapshot>;
  /**
   * All changes or none, decided on `expected`: fails with `conflict` when the state is another one by now, and with
   * `tooLarge` on what cannot be stored. Durable when it resolves, and the listeners of this process know it. When it fails with
   * `unavailable`, the changes may have been made. The version that they make is later than `goesOnFrom`, too: that of a state
   * which is brought back into an empty store, so that nobody takes it for an old one.
   */
  change(
    changes: readonly AccessChange[],
    expected: AccessPosition,
    context: RequestContext,
    goesOnFrom?: number,
  ): Promise<void>;
  /** Calls `listener` with what is known and then with every later snapshot, in order, until disposed of. */
  watchAccess(listener: (snapshot: AccessSnapshot) => void): Disposable;
}
