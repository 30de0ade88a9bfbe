/** A shard and the nodes that it was placed on; the first one owns it, or was made the primary of its copies. */
export interface PhysicalShard {
  readonly name: string;
  readonly members: readonly string[];
  /** Grows whenever the owner changes, so that a former one cannot write on; 1 when absent. */
  readonly epoch?: number;
  /**
   * The copies that it was made with, `node/id`, one on each of `members`. Who holds it now is in its configuration (`replication`).
   * Absent: it has one copy, without a configuration.
   */
  readonly copies?: readonly string[];
}

/**
 * How one class is spread over shards. Plain JSON (bounds are derived from the names, not stored), created once with the
 * class and never changed. `assignments[i]` is the index in `shards` of the owner of `virtualShards[i]`.
 */
export interface ShardingState {
  readonly shards: readonly PhysicalShard[];
  readonly virtualShards: readonly string[];
  readonly assignments: readonly number[];
}
