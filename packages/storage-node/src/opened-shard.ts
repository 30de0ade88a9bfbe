import type { Shard } from "@shoal/shard";
import type { ShardReplica } from "./copies/shard-replica.js";

/** A shard together with the store under it, which is closed after it. */
export interface OpenedShard {
  readonly shard: Shard;
  readonly store: AsyncDisposable & {
    /** What it takes on disk; undefined while it does not know. */
    readonly diskBytes?: number | undefined;
    /** What was found damaged in it when it was opened. */
    readonly damage?: string | undefined;
  };
  /** Of a shard with copies. */
  readonly replica?: ShardReplica;
}
