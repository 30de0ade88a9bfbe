import type { Json } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { EntriesSnapshot, Position, SnapshotService } from "./snapshot-service.js";

/** A version of the roles, the assignments and the users made at run time. */
export type AccessPosition = Position;

export type AccessSnapshot = EntriesSnapshot;

/** One key's new value; undefined removes it. */
export interface AccessChange {
  readonly key: string;
  readonly value: Json | undefined;
}

/** Who may do what, as all gateways know it. What the keys and values mean is the gateways' business. */
export interface AccessService extends SnapshotService<AccessSnapshot> {
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
}
