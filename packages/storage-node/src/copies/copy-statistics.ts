import type { CopyTransfers } from "./copy-transfers.js";
import type { FullCopyOutcome } from "./full-copy.js";
import type { ShardReplica } from "./shard-replica.js";

export interface CopyStatistics {
  /** Of the shards whose primary is here: copies anywhere that are not in sync, and shards that take no writes. */
  readonly outOfSync: number;
  readonly belowMinInSync: number;
  /** How often a copy here took the place of a primary elsewhere, and how many copies were taken out by primaries here. */
  readonly takenOver: number;
  readonly takenOut: number;
  /** Of all rows to copies here: how many have begun, and how they have ended. */
  readonly fullCopies: Readonly<Record<"begun" | FullCopyOutcome, number>>;
  /** Sent to copies that catch up. */
  readonly sentBytes: CopyTransfers["sentBytes"];
}

export function countCopies(
  replicas: Iterable<Pick<ShardReplica, "isPrimary" | "configuration">>,
): Pick<CopyStatistics, "outOfSync" | "belowMinInSync"> {
  let outOfSync = 0;
  let belowMinInSync = 0;
  for (const { isPrimary, configuration } of replicas) {
    if (!isPrimary || configuration === undefined) continue;
    outOfSync += configuration.learners.length;
    if (configuration.inSync.length < configuration.minInSync) belowMinInSync++;
  }
  return { outOfSync, belowMinInSync };
}
