import type { Shard } from "@shoal/shard";
import type { ShardReplica } from "./copies/shard-replica.js";

/** A shard together with the store under it, which is closed after it. */
export interface OpenedShard {
  readonly shard: Shard;
  readonly store: AsyncDisposable;
  /** Of a shard with copies. */
  readonly replica?: ShardReplica;
}
