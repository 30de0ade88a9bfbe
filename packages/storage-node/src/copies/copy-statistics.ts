import type { CopyLags } from "./copy-lags.js";
import type { CopyTransfers } from "./copy-transfers.js";
import type { FullCopyOutcome } from "./full-copy.js";
import type { ShardReplica } from "./shard-replica.js";

export interface CopyStatistics {
  /** Of the shards whose primary is here: copies anywhere that are not in sync, and shards that take no writes. */
  readonly outOfSync: number;
  readonly belowMinInSync: number;
  /** Changes that the copy of them lacks that lacks most: those made since it was in sync. */
  readonly lag: number;
  /** How often a copy here took the place of a primary elsewhere, and how many copies were taken out by primaries here. */
  readonly takenOver: number;
  readonly takenOut: number;
  /** Of all rows to copies here: how many have begun, and how they have ended. */
  readonly fullCopies: Readonly<Record<"begun" | FullCopyOutcome, number>>;
  /** Sent to copies that catch up. */
  readonly sentBytes: CopyTransfers["sentBytes"];
}

export function countCopies(
  replicas: Iterable<Pick<ShardReplica, "isPrimary" | "configuration" | "name" | "end">>,
  lags: Pick<CopyLags, "of">,
): Pick<CopyStatistics, "outOfSync" | "belowMinInSync" | "lag"> {
  let outOfSync = 0;
  let belowMinInSync = 0;
  let lag = 0;
  for (const replica of replicas) {
    const { isPrimary, configuration } = replica;
    if (!isPrimary || configuration === undefined) continue;
    outOfSync += configuration.learners.length;
    if (configuration.inSync.length < configuration.minInSync) belowMinInSync++;
    lag = Math.max(lag, lags.of(replica));
  }
  return { outOfSync, belowMinInSync, lag };
}
