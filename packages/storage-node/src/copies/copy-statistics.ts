import type { ShardReplica } from "./shard-replica.js";

export interface CopyStatistics {
  /** Of the shards whose primary is here: copies anywhere that are not in sync, and shards that take no writes. */
  readonly outOfSync: number;
  readonly belowMinInSync: number;
  /** How often a copy here took the place of a primary elsewhere, and how many copies were taken out by primaries here. */
  readonly takenOver: number;
  readonly takenOut: number;
}

export function countCopies(
  replicas: Iterable<Pick<ShardReplica, "isPrimary" | "configuration">>,
): Omit<CopyStatistics, "takenOver" | "takenOut"> {
  let outOfSync = 0;
  let belowMinInSync = 0;
  for (const { isPrimary, configuration } of replicas) {
    if (!isPrimary || configuration === undefined) continue;
    outOfSync += configuration.learners.length;
    if (configuration.inSync.length < configuration.minInSync) belowMinInSync++;
  }
  return { outOfSync, belowMinInSync };
}
