import type { ShardReplica } from "./shard-replica.js";

export interface CopyStatistics {
  /** Copies on this node. */
  readonly inSync: number;
  readonly catchingUp: number;
  /** Of the shards whose primary is here: copies anywhere that are not in sync, and shards that take no writes. */
  readonly outOfSync: number;
  readonly belowMinInSync: number;
  /** How often a copy here took the place of a primary elsewhere, and how many copies were taken out by primaries here. */
  readonly takenOver: number;
  readonly takenOut: number;
}

export function countCopies(
  replicas: Iterable<Pick<ShardReplica, "isInSync" | "isPrimary" | "configuration">>,
): Omit<CopyStatistics, "takenOver" | "takenOut"> {
  let inSync = 0;
  let catchingUp = 0;
  let outOfSync = 0;
  let belowMinInSync = 0;
  for (const { isInSync, isPrimary, configuration } of replicas) {
    if (isInSync) inSync++;
    else catchingUp++;
    if (!isPrimary || configuration === undefined) continue;
    outOfSync += configuration.learners.length;
    if (configuration.inSync.length < configuration.minInSync) belowMinInSync++;
  }
  return { inSync, catchingUp, outOfSync, belowMinInSync };
}
