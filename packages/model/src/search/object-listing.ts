import type { ShardFilter } from "../filters/where-filter.js";
import type { ObjectId } from "../objects/object-id.js";
import type { RowFields } from "./get-query.js";

/** A page of a shard's objects. `newest`: creation time descending, then id ascending; `id`: raw uuid ascending. */
export interface ObjectListing {
  readonly order: "newest" | "id";
  /** With order `id` only: ids above this one, whether it exists or not. */
  readonly after: ObjectId | undefined;
  readonly limit: number;
  /** Objects at the front that are passed over without being read; 0 when absent. */
  readonly skip?: number;
  /** With order `id` only: objects that satisfy it; all when absent. */
  readonly filter?: ShardFilter | undefined;
  readonly fields: RowFields;
}
