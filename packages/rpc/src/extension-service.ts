import type { Json } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { EntriesSnapshot, SnapshotService } from "./snapshot-service.js";

export type ExtensionsSnapshot = EntriesSnapshot;

/** What modules keep for all processes, with the schema. */
export interface ExtensionService extends SnapshotService<ExtensionsSnapshot> {
  /**
   * Durable when it resolves, and seen by the watchers of this process. Fails with `tooLarge` on what cannot be stored. When
   * it fails with `unavailable` the value may have been stored.
   */
  put(key: string, value: Json, context: RequestContext): Promise<void>;
}
