import type { CopyCore } from "./copy-core.js";
import { type CopyName, nodeOf } from "./shard-configuration.js";

/** Until when a new primary must not read, and not acknowledge, because another copy may still answer. */
export interface EndOfLeases {
  readonly readAt: number;
  readonly commitAt: number;
}

/**
 * When `copy` surely answers no more on account of a former primary. `deposed`: that primary, of whose leases this copy's own was
 * one. It reads until it lacks that lease, and others search until they lack what it granted before. Undefined: who was
 * primary is not known, and may have had its leases until now.
 */
export function endOfFormerLeases(copy: CopyName, deposed: CopyName | undefined, core: CopyCore): EndOfLeases {
  const { leases, now, timing } = core;
  const leaseMs = timing.leaseMs * (1 + timing.drift);
  const ownEndsAt = leases.grantEndsAt(nodeOf(copy));
  if (deposed === undefined) {
    const readAt = Math.max(ownEndsAt, now + leaseMs);
    return { readAt, commitAt: readAt + leaseMs };
  }
  const readAt = leases.grantEndsAt(nodeOf(deposed));
  return { readAt, commitAt: copy === deposed ? readAt : Math.max(ownEndsAt, readAt + leaseMs) };
}
