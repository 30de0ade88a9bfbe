import { type CopyName, nodeOf } from "./shard-configuration.js";
import type { Timing } from "./timing.js";

/** A time of a process: which run of it, and milliseconds of its own monotonic clock. */
export interface Stamp {
  readonly run: string;
  readonly at: number;
}

/** What two nodes send each other all the time, for all shards that they share. */
export interface Heartbeat {
  readonly stamp: Stamp;
  /** The newest stamp that came from the receiver, unless the sender withholds its lease. */
  readonly echo: Stamp | undefined;
  /** From whom the sender holds a lease, nodes and the store, with the number of that lease. */
  readonly holds: ReadonlyMap<string, number>;
}

/** A primary says to its secondaries on which leases it relies, again and again: the how-manieth time in its epoch. */
export interface LeadNumber {
  readonly epoch: number;
  readonly lead: number;
}

interface Revocation {
  /** Of the configuration from which on it counts. */
  readonly version: number;
  /** This lead, and those before it, count no more. */
  readonly last: LeadNumber;
  sentAt: number;
}

interface Held {
  until: number;
  /** Grows when the lease is held again after it had ended: whoever relied on it must look again. */
  number: number;
}

interface Peer {
  heardAt: number;
  stamp: Stamp | undefined;
  /** When that stamp came. */
  stampAt: number;
  /** When the newest stamp came that was given back. */
  grantedAt: number;
  readonly held: Held;
  /** Leases that the peer surely holds of others. */
  readonly through: Map<string, Held>;
  /** Shards on whose account nothing is granted. */
  readonly withheldBy: Set<string>;
}

const NOBODY: ReadonlyMap<CopyName, unknown> = new Map();

/**
 * The leases between one node and all others.
 *
 * A lease goes by the clock of who holds it, from the moment at which it *sent* the stamp that comes back; who grants it counts
 * from the moment at which it *received* that stamp, which is later, and adds the drift of clocks. So a message that is late
 * shortens a lease and never lengthens it.
 *
 * What a grant means for a shard depends on the roles of both. From a copy in sync to its primary: I shall not take your place.
 * From a primary to a copy in sync: I acknowledge nothing that you lack.
 */
export class NodeLeases {
  readonly #run: string;
  readonly #bootedAt: number;
  readonly #timing: Timing;
  readonly #peers = new Map<string, Peer>();
  readonly #revocations = new Map<string, Map<string, Revocation>>();
  readonly #confirmed = new Map<string, LeadNumber>();

  constructor(run: string, bootedAt: number, timing: Timing) {
    this.#run = run;
    this.#bootedAt = bootedAt;
    this.#timing = timing;
  }

  get run(): string {
    return this.#run;
  }

  heartbeatTo(name: string, now: number): Heartbeat {
    const peer = this.#peer(name);
    const mayGrant = peer.withheldBy.size === 0 && peer.stamp !== undefined;
    if (mayGrant) peer.grantedAt = Math.max(peer.grantedAt, peer.stampAt);
    const held = [...this.#peers].filter(([, one]) => now < one.held.until);
    return {
      stamp: this.stamp(now),
      echo: mayGrant ? peer.stamp : undefined,
      holds: new Map(held.map(([one, { held: lease }]) => [one, lease.number])),
    };
  }

  receive(from: string, { stamp, echo, holds }: Heartbeat, now: number): void {
    const peer = this.#peer(from);
    // Another run counts its leases from the beginning.
    if (stamp.run !== peer.stamp?.run) peer.through.clear();
    if (stamp.run !== peer.stamp?.run || stamp.at > peer.stamp.at) {
      peer.stamp = stamp;
      peer.stampAt = now;
      peer.heardAt = now;
    }
    if (echo?.run !== this.#run) return;
    const until = echo.at + this.#timing.leaseMs;
    hold(peer.held, until, now);
    for (const [third, number] of holds) {
      const through = peer.through.get(third);
      if (through === undefined || number > through.number) peer.through.set(third, { until, number });
      else if (number === through.number) through.until = Math.max(through.until, until);
    }
  }

  /** A linear read of the MetaStore, asked at `stamp`, whose content this node has taken over. */
  confirmedBy(store: string, stamp: Stamp, now: number): void {
    if (stamp.run === this.#run) hold(this.#peer(store).held, stamp.at + this.#timing.leaseMs, now);
  }

  stamp(now: number): Stamp {
    return { run: this.#run, at: now };
  }

  /** The number of the lease that is held of `peer`; undefined when none is. */
  held(peer: string, now: number): number | undefined {
    const { held } = this.#peer(peer);
    return now < held.until ? held.number : undefined;
  }

  /** The lease of `third` that `peer` surely holds. */
  heldThrough(peer: string, third: string, now: number): number | undefined {
    const held = this.#peer(peer).through.get(third);
    return held !== undefined && now < held.until ? held.number : undefined;
  }

  /** Which run of the peer was heard last. */
  runOf(peer: string): string | undefined {
    return this.#peer(peer).stamp?.run;
  }

  /** When something new came from the peer last; when the two met when nothing has, or the start of this process. */
  heardAt(peer: string): number {
    return this.#peer(peer).heardAt;
  }

  /** The peer and this node have had nothing to say to each other: it is silent from now on at the earliest. */
  meet(peer: string, now: number): void {
    const met = this.#peer(peer);
    met.heardAt = Math.max(met.heardAt, now);
  }

  /** From then on the peer holds nothing of what this node has granted, also before a restart. */
  grantEndsAt(peer: string): number {
    return this.#peer(peer).grantedAt + this.#timing.leaseMs * (1 + this.#timing.drift);
  }

  /**
   * `copy` of the shard shall answer nothing on account of what this node has granted, under the lead `last` and those before. Until it
   * confirms, its node gets no lease. Kept here, since the copy that asks may be closed meanwhile, or opened again.
   */
  revoke(
    shard: string,
    copy: CopyName,
    { version, last }: { readonly version: number; readonly last: LeadNumber },
  ): void {
    let revocations = this.#revocations.get(shard);
    if (revocations === undefined) {
      revocations = new Map();
      this.#revocations.set(shard, revocations);
    }
    revocations.set(copy, { version, last, sentAt: Number.NEGATIVE_INFINITY });
    this.withhold(nodeOf(copy), shard);
  }

  /** `copy` confirms, as of a configuration of that version. */
  revoked(shard: string, copy: CopyName, version: number): void {
    const revocations = this.#revocations.get(shard);
    const revocation = revocations?.get(copy);
    if (revocations === undefined || revocation === undefined || version < revocation.version) return;
    revocations.delete(copy);
    if (revocations.size === 0) this.#revocations.delete(shard);
    this.release(nodeOf(copy), shard);
  }

  /** The copies of the shard that have still to confirm. */
  revoking(shard: string): ReadonlyMap<CopyName, unknown> {
    return this.#revocations.get(shard) ?? NOBODY;
  }

  /** Who is to be asked to confirm now, which counts as done. */
  dueRevocations(shard: string, now: number): readonly { readonly copy: CopyName; readonly last: LeadNumber }[] {
    const due = [...(this.#revocations.get(shard) ?? [])].filter(
      ([, { sentAt }]) => now >= sentAt + this.#timing.resendMs,
    );
    for (const [, revocation] of due) revocation.sentAt = now;
    return due.map(([copy, { last }]) => ({ copy, last }));
  }

  /**
   * This node confirms that its copy of the shard answers nothing on account of leads up to `last`, whether its store is open or
   * not. Kept here, since such a lead may come later, also when the store has been opened again.
   */
  confirmRevoked(shard: string, last: LeadNumber): void {
    if (!this.isRevoked(shard, last)) this.#confirmed.set(shard, last);
  }

  isRevoked(shard: string, { epoch, lead }: LeadNumber): boolean {
    const last = this.#confirmed.get(shard);
    return last !== undefined && (epoch < last.epoch || (epoch === last.epoch && lead <= last.lead));
  }

  /** The class of the shard is deleted: nobody is answered on account of it any more. */
  forget(shard: string): void {
    this.#revocations.delete(shard);
    this.#confirmed.delete(shard);
    for (const { withheldBy } of this.#peers.values()) withheldBy.delete(shard);
  }

  /** Nothing is granted to `peer` until everybody who withholds has released it. */
  withhold(peer: string, by: string): void {
    this.#peer(peer).withheldBy.add(by);
  }

  /** Not while a copy there has still to confirm that it answers nothing. */
  release(peer: string, by: string): void {
    if ([...this.revoking(by).keys()].some((copy) => nodeOf(copy) === peer)) return;
    this.#peer(peer).withheldBy.delete(by);
  }

  /** The copy of the shard is closed: it takes nobody's place before it is opened, and begins anew then. */
  closed(shard: string): void {
    for (const peer of this.#peers.keys()) this.release(peer, shard);
  }

  #peer(name: string): Peer {
    let peer = this.#peers.get(name);
    if (peer === undefined) {
      const at = this.#bootedAt;
      peer = {
        heardAt: at,
        stamp: undefined,
        stampAt: at,
        grantedAt: at,
        held: { until: 0, number: 0 },
        through: new Map(),
        withheldBy: new Set(),
      };
      this.#peers.set(name, peer);
    }
    return peer;
  }
}

function hold(held: Held, until: number, now: number): void {
  if (until <= now) return;
  if (held.until <= now) held.number++;
  held.until = Math.max(held.until, until);
}
