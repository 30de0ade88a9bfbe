import type { CopyCore } from "./copy-core.js";
import { type CopyName, nodeOf } from "./shard-configuration.js";

/** Until when a new primary must not read, and not acknowledge, because another copy may still answer. */
interface EndOfLeases {
  readonly readAt: number;
  readonly commitAt: number;
}

/**
 * When `copy` surely answers no more on account of a former primary. `deposed`: that primary, of whose leases this copy's own was
 * one. It reads until it lacks that lease, and others search until they lack what it granted before. Undefined: who was
 * primary is not known, and may have had its leases until now.
 */
function endOfFormerLeases(copy: CopyName, deposed: CopyName | undefined, core: CopyCore): EndOfLeases {
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

/** The copies that may still answer on account of leases that a former primary, or this one, has granted them. */
export class FormerLeases {
  readonly #core: CopyCore;
  readonly #former = new Map<CopyName, EndOfLeases>();
  /** Copies that were taken out: until when they may hold a lease of this primary. */
  readonly #leaving = new Map<CopyName, number>();

  constructor(core: CopyCore) {
    this.#core = core;
  }

  /** `copy` may go by leases of a former primary; `deposed`: see {@link endOfFormerLeases}. */
  add(copy: CopyName, deposed: CopyName | undefined): void {
    this.#former.set(copy, endOfFormerLeases(copy, deposed, this.#core));
  }

  /** `copy` is taken out. */
  leaves(copy: CopyName): void {
    this.#leaving.set(copy, this.#core.leases.grantEndsAt(nodeOf(copy)));
  }

  /** Forgets those that answer no more: they are led by this primary, or have confirmed it, or their time is over. */
  settle(inSync: readonly CopyName[], isLed: (copy: CopyName) => boolean): void {
    const core = this.#core;
    for (const [copy, { commitAt }] of this.#former) {
      const isConfirmed = inSync.includes(copy) ? isLed(copy) : core.isRevoked(copy);
      if (isConfirmed || core.now >= commitAt) this.#former.delete(copy);
    }
    for (const [copy, endsAt] of this.#leaving) {
      if (core.isRevoked(copy) || core.now >= endsAt) this.#leaving.delete(copy);
    }
  }

  /** Why the primary must not read, or not acknowledge. */
  fault(what: "readAt" | "commitAt"): string | undefined {
    const { now } = this.#core;
    if (what === "commitAt" && [...this.#leaving.values()].some((at) => now < at))
      return "a copy that leaves may answer";
    if (this.#core.is("a new primary does not wait for old leases")) return undefined;
    const mustWait = [...this.#former.values()].some((until) => now < until[what]);
    return mustWait ? "leases of a former primary may still hold" : undefined;
  }

  /** The primary is woken when the next one is over. */
  wake(): void {
    const core = this.#core;
    if (this.#former.size === 0 && this.#leaving.size === 0) return;
    const ends = [...this.#former.values()].flatMap(({ readAt, commitAt }) => [readAt, commitAt]);
    const next = Math.min(...[...ends, ...this.#leaving.values()].filter((at) => at > core.now));
    core.wakeAfter(Math.min(core.timing.resendMs, next - core.now));
  }
}
