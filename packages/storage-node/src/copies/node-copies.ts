import { ShoalError } from "@shoal/model";
import {
  type CopyName,
  copiesOf,
  NodeLeases,
  nodeOf,
  type ShardConfiguration,
  STORE,
  type Timing,
  timingOf,
  withdrawn,
} from "@shoal/replication";
import {
  type ClassRecord,
  type CopiesSnapshot,
  type CopyDecision,
  type CopyProposal,
  type CopyService,
  initialConfigurations,
  type NodeMessage,
  type ShardAddress,
  type ShardKey,
  shardKeyOf,
  shardPlaceOf,
} from "@shoal/rpc";
import type { CopyOptions } from "@shoal/shard";
import type { OpenedShard } from "../opened-shard.js";
import { CopyTransfers } from "./copy-transfers.js";
import { replicatedShard } from "./replicated-shard.js";
import { type ReplicaEvent, type ReplicaSurroundings, ShardReplica } from "./shard-replica.js";

export interface NodeCopiesOptions {
  readonly nodeName: string;
  /** Names the copies that are made on the node's folder with their classes; later ones begin so. */
  readonly ownCopy: CopyName;
  readonly service: CopyService;
  /** To the node of that name. It may be lost. */
  readonly send: (node: string, message: NodeMessage) => void;
  /** Milliseconds of the monotonic clock. */
  readonly now: () => number;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly newId: () => string;
  /** How long a copy may answer after it last heard from the others: the same on all nodes. */
  readonly leaseMs: number;
  /** Entries that a journal keeps for copies that are away. */
  readonly journalKeepEntries: number;
  /** Of rows and graphs, to all copies that catch up. */
  readonly transferBytesPerSecond: number;
}

/** Where the store of a copy is, or will be. */
export interface CopyPlace {
  /** Whether the shard was once complete on this node. */
  readonly isMade: boolean;
  /** Whether its store is there. */
  hasStore(): Promise<boolean>;
  /** Removes what is there of it. */
  clear(): Promise<void>;
  /** To be awaited when it is complete on disk, before it takes part. */
  keepMade(): Promise<void>;
  open(isMade: boolean, copy: CopyOptions): Promise<OpenedShard>;
}

/** After so long nobody waits for the outcome of a proposal. */
const PROPOSAL_MS = 1_000;
/** A copy that was lost is replaced by compare-and-set: so often is it tried when others were faster. */
const REPLACE_ATTEMPTS_MAX = 10;
const TICK_MS = 100;
/** The store is asked every so many heartbeats, though nobody needs its lease: a change may have passed by. */
const REFRESH_HEARTBEATS = 8;
const HAND_OVER_MS_MAX = 5_000;
const LEAVE_MS_MAX = 1_000;

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

/** The copies of one node: their leases, what they send each other, and the configurations that they follow. */
export class NodeCopies implements Disposable {
  readonly #options: NodeCopiesOptions;
  readonly #timing: Timing;
  readonly #leases: NodeLeases;
  readonly #replicas = new Map<ShardKey, ShardReplica>();
  readonly #around: ReplicaSurroundings;
  readonly #listeners = new Set<(event: ReplicaEvent) => void>();
  readonly #subscription: Disposable;
  readonly #ticking: NodeJS.Timeout;
  #snapshot: CopiesSnapshot | undefined;
  /** What each shard's class was made with. */
  readonly #initial = new Map<ShardKey, ShardConfiguration>();
  /** The nodes with which this one shares shards. */
  #peers: ReadonlySet<string> = new Set();
  #nextHeartbeat = 0;
  #heartbeats = 0;
  #refreshing: Promise<void> | undefined;
  #isRefreshDue = false;
  #proposed: { readonly proposal: CopyProposal; readonly decided: (decision: CopyDecision | undefined) => void }[] = [];
  #isProposing = false;
  readonly #counts = { takenOver: 0, takenOut: 0 };

  constructor(options: NodeCopiesOptions) {
    const { leaseMs, now, newId, journalKeepEntries, service } = options;
    const timing = timingOf(leaseMs);
    this.#options = options;
    this.#timing = timing;
    this.#leases = new NodeLeases(newId(), now(), timing);
    this.#around = {
      ...{ leases: this.#leases, timing, journalKeepEntries, now, newId },
      onEvent: (event) => {
        this.#count(event);
        for (const listener of this.#listeners) listener(event);
      },
      send: (shard, from, to, message) => options.send(nodeOf(to), { type: "copy", shard, from, to, message }),
      propose: (shard, next) => this.#propose({ shard, next }),
      sendGraph: (message) => options.send(nodeOf(message.to), message),
      transfers: new CopyTransfers(options.transferBytesPerSecond),
      refresh: () => void this.#refresh(),
    };
    this.#subscription = service.watch((snapshot) => this.#take(snapshot));
    this.#ticking = setInterval(() => this.#tick(), TICK_MS);
    this.#ticking.unref();
  }

  /** Those that are open. */
  get replicas(): Iterable<ShardReplica> {
    return this.#replicas.values();
  }

  replica(key: ShardKey): ShardReplica | undefined {
    return this.#replicas.get(key);
  }

  /**
   * Opens the copy of a shard that its class places here. One that is not on the disk, and was or may have been, is replaced by a new
   * one where others hold what it held; else it fails with `dataLoss`.
   */
  async open(address: ShardAddress, record: ClassRecord, place: CopyPlace): Promise<OpenedShard> {
    const key = shardKeyOf(address);
    const initial = initialConfigurations(record.sharding).get(address.shardName);
    if (initial === undefined) throw new ShoalError("internal", `${shardPlaceOf(address)} has no copies`);
    this.#initial.set(key, initial);
    const isThere = place.isMade && (await place.hasStore());
    const { name, since } = isThere ? { name: "", since: 0 } : await this.#newCopy(address, key, place.isMade);
    if (!isThere) await place.clear();
    const replica = new ShardReplica(address, key, this.#around);
    const { shard, store } = await place.open(isThere, { name, since, carrier: replica });
    const { copy } = shard;
    try {
      if (copy === undefined) throw new ShoalError("internal", `${shardPlaceOf(address)} was opened without its copy`);
      await place.keepMade();
    } catch (thrown) {
      await shard[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      throw thrown;
    }
    this.#replicas.get(key)?.stop();
    this.#replicas.set(key, replica);
    replica.start(copy, this.#configuration(key) ?? initial);
    this.#peers = new Set([...this.#peers, ...nodesOf(initial)].filter((node) => node !== this.#options.nodeName));
    const onClose = () => this.#closed(replica);
    return { shard: replicatedShard(shard, replica, onClose), store, replica };
  }

  /** What another node has sent. */
  receive(from: string, message: NodeMessage): void {
    const now = this.#options.now();
    if (message.type === "heartbeat") {
      this.#leases.receive(from, message.heartbeat, now);
      return;
    }
    if (nodeOf(message.from) !== from) return;
    const { shard, to } = message;
    const replica = this.#replicas.get(shard);
    if (message.type !== "copy") {
      if (replica?.name === to) replica.takeGraph(message);
    } else if (replica?.name === to) {
      replica.handle({ type: "message", from: message.from, message: message.message });
    } else if (message.message.type === "revoke") {
      // The copy is not open: nobody reads on account of it, nor will.
      const { last, configuration } = message.message;
      this.#leases.confirmRevoked(shard, last);
      const answer = { type: "revoked", version: configuration.version } as const;
      this.#options.send(from, { type: "copy", shard, from: to, to: message.from, message: answer });
    }
  }

  /** As of now, and since the start of the process. */
  statistics(): CopyStatistics {
    let inSync = 0;
    let catchingUp = 0;
    let outOfSync = 0;
    let belowMinInSync = 0;
    for (const { isInSync, isPrimary, configuration } of this.#replicas.values()) {
      if (isInSync) inSync++;
      else catchingUp++;
      if (!isPrimary || configuration === undefined) continue;
      outOfSync += configuration.learners.length;
      if (configuration.inSync.length < configuration.minInSync) belowMinInSync++;
    }
    return { inSync, catchingUp, outOfSync, belowMinInSync, ...this.#counts };
  }

  /** Calls `listener` with what happens to the copies, until disposed of. */
  onEvent(listener: (event: ReplicaEvent) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  /** The class of a shard whose copy is not open is deleted: no lease is withheld on its account any more. */
  forget(address: ShardAddress): void {
    const key = shardKeyOf(address);
    this.#initial.delete(key);
    this.#leases.forget(key);
  }

  /** The node goes: lets others be primary of its shards, and go on without its copies, as far as they can. */
  async leave(): Promise<void> {
    const replicas = [...this.#replicas.values()];
    await Promise.all(
      replicas.map(async (replica) => {
        await replica.handOver(HAND_OVER_MS_MAX);
        await replica.leave(LEAVE_MS_MAX);
        // It would catch up again. That it answers nothing is confirmed for it.
        if (!replica.isInSync) this.#closed(replica);
      }),
    );
  }

  [Symbol.dispose](): void {
    clearInterval(this.#ticking);
    this.#subscription[Symbol.dispose]();
    for (const replica of this.#replicas.values()) replica.stop();
    this.#replicas.clear();
  }

  #count(event: ReplicaEvent): void {
    if (event.type !== "configured" || event.before === undefined) return;
    const { before, after } = event;
    if (nodeOf(after.primary) !== this.#options.nodeName) return;
    if (before.primary !== after.primary) this.#counts.takenOver++;
    else this.#counts.takenOut += before.inSync.filter((copy) => !after.inSync.includes(copy)).length;
  }

  /** The copy is not served any more. */
  #closed(replica: ShardReplica): void {
    replica.stop();
    if (this.#replicas.get(replica.key) === replica) this.#replicas.delete(replica.key);
  }

  #configuration(key: ShardKey): ShardConfiguration | undefined {
    return this.#snapshot?.configurations.get(key) ?? this.#initial.get(key);
  }

  /** The name of a copy that has no store yet. */
  async #newCopy(
    address: ShardAddress,
    key: ShardKey,
    isMade: boolean,
  ): Promise<{ readonly name: CopyName; readonly since: number }> {
    const { nodeName, ownCopy, newId } = this.#options;
    this.#take(await this.#options.service.current({ deadline: this.#options.clock() + PROPOSAL_MS }));
    for (let attempt = 0; attempt < REPLACE_ATTEMPTS_MAX; attempt++) {
      const configuration = this.#configuration(key);
      const own = configuration && copiesOf(configuration).find((copy) => nodeOf(copy) === nodeName);
      if (configuration === undefined || own === undefined) {
        throw new ShoalError("unavailable", `${shardPlaceOf(address)} has no copy on node '${nodeName}'`);
      }
      // Nobody has begun with it: what is not there was never there.
      if (!isMade && configuration.version === 1 && own === ownCopy) return { name: own, since: 1 };
      if (configuration.inSync.length === 1 && configuration.inSync[0] === own) {
        throw new ShoalError(
          "dataLoss",
          `${shardPlaceOf(address)}: the last copy in sync was on node '${nodeName}', and is not in its folder`,
        );
      }
      const name = `${ownCopy}.${newId()}`;
      const decision = await this.#propose({ shard: key, next: withdrawn(configuration, own, name) });
      if (decision?.isAccepted === true) return { name, since: configuration.version + 1 };
      this.#take(await this.#options.service.current({ deadline: this.#options.clock() + PROPOSAL_MS }));
    }
    throw new ShoalError("unavailable", `${shardPlaceOf(address)}: its lost copy could not be replaced yet`);
  }

  #take(snapshot: CopiesSnapshot): void {
    const before = this.#snapshot;
    if (before !== undefined && before.historyId === snapshot.historyId && before.version > snapshot.version) return;
    this.#snapshot = snapshot;
    for (const [key, replica] of this.#replicas) {
      const configuration = snapshot.configurations.get(key);
      if (configuration === undefined || configuration === before?.configurations.get(key)) continue;
      replica.handle({ type: "configuration", configuration });
    }
  }

  /** Several that come together share a call; those that come during one share the next. */
  #propose(proposal: CopyProposal): Promise<CopyDecision | undefined> {
    const decided = new Promise<CopyDecision | undefined>((resolve) => {
      this.#proposed.push({ proposal, decided: resolve });
    });
    void this.#sendProposals();
    return decided;
  }

  async #sendProposals(): Promise<void> {
    if (this.#isProposing) return;
    this.#isProposing = true;
    // Those of the same event come with it.
    await undefined;
    while (this.#proposed.length > 0) {
      const asked = this.#proposed;
      this.#proposed = [];
      const { nodeName, service, clock } = this.#options;
      const proposals = asked.map(({ proposal }) => proposal);
      const decisions = await service
        .propose(nodeName, proposals, { deadline: clock() + PROPOSAL_MS })
        .catch(() => undefined);
      for (const [at, { decided }] of asked.entries()) decided(decisions?.[at]);
    }
    this.#isProposing = false;
  }

  /** Reads all configurations linearly: whoever could take over here without being asked would be in them. */
  #refresh(): Promise<void> {
    if (this.#refreshing !== undefined) {
      this.#isRefreshDue = true;
      return this.#refreshing;
    }
    this.#refreshing = this.#read().finally(() => {
      this.#refreshing = undefined;
      if (!this.#isRefreshDue) return;
      this.#isRefreshDue = false;
      void this.#refresh();
    });
    return this.#refreshing;
  }

  async #read(): Promise<void> {
    const { service, clock, now } = this.#options;
    const stamp = this.#leases.stamp(now());
    try {
      this.#take(await service.current({ deadline: clock() + PROPOSAL_MS }));
      this.#leases.confirmedBy(STORE, stamp, now());
    } catch {
      // It is asked again; without it the store gives no lease.
    }
  }

  #tick(): void {
    const now = this.#options.now();
    const isBeat = now >= this.#nextHeartbeat;
    if (isBeat) {
      this.#nextHeartbeat = now + this.#timing.heartbeatMs;
      this.#beat(now);
    } else {
      // Whoever has just come to share a shard gets its lease soon.
      for (const peer of this.#peers) if (this.#leases.held(peer, now) === undefined) this.#sendHeartbeat(peer, now);
    }
    const silentAfter = this.#timing.silenceMs * (1 + this.#timing.drift);
    const isSilent = new Map<string, boolean>();
    for (const replica of this.#replicas.values()) {
      const { configuration } = replica;
      if (configuration === undefined) continue;
      const primary = nodeOf(configuration.primary);
      let silent = isSilent.get(primary);
      if (silent === undefined) {
        silent = primary !== this.#options.nodeName && this.#leases.heardAt(primary) + silentAfter <= now;
        isSilent.set(primary, silent);
      }
      if (silent) replica.handle({ type: "silent", node: primary });
      else if (replica.isWaitedFor || (isBeat && replica.isHindered)) replica.handle({ type: "wake" });
    }
  }

  #sendHeartbeat(peer: string, now: number): void {
    this.#options.send(peer, { type: "heartbeat", heartbeat: this.#leases.heartbeatTo(peer, now) });
  }

  #beat(now: number): void {
    const peers = new Set<string>();
    let needsStore = false;
    for (const { configuration } of this.#replicas.values()) {
      if (configuration === undefined) continue;
      for (const node of nodesOf(configuration)) peers.add(node);
      needsStore ||= configuration.eligible.length > 0;
    }
    peers.delete(this.#options.nodeName);
    this.#peers = peers;
    for (const peer of peers) this.#sendHeartbeat(peer, now);
    if (needsStore || this.#heartbeats++ % REFRESH_HEARTBEATS === 0) void this.#refresh();
  }
}

function nodesOf({ inSync, learners }: ShardConfiguration): readonly string[] {
  return [...inSync, ...learners].map(nodeOf);
}
