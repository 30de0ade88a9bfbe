import { ShoalError } from "@shoal/model";
import {
  ClosedCopy,
  type ClosedCopyOptions,
  type CopyEffect,
  type CopyName,
  copiesOf,
  NodeLeases,
  nodeOf,
  type ShardConfiguration,
  STORE,
  type Timing,
  withdrawn,
} from "@shoal/replication";
import {
  type ClassRecord,
  type CopiesSnapshot,
  initialConfigurations,
  type NodeMessage,
  type ShardAddress,
  type ShardKey,
  shardKeyOf,
  shardPlaceOf,
} from "@shoal/rpc";
import type { OpenedShard } from "../opened-shard.js";
import { CopyLags } from "./copy-lags.js";
import { type CopyPlace, openWhole } from "./copy-place.js";
import { type CopyStatistics, countCopies } from "./copy-statistics.js";
import { CopyTransfers } from "./copy-transfers.js";
import { DueEvents } from "./due-events.js";
import { FollowedNodes } from "./followed-nodes.js";
import { loadedTiming } from "./loaded-timing.js";
import type { NodeCopiesOptions } from "./node-copies-options.js";
import { NodeMemory } from "./node-memory.js";
import { Proposals } from "./proposals.js";
import type { ReplicaEvent } from "./replica-event.js";
import { replicatedShard } from "./replicated-shard.js";
import { type ReplicaSurroundings, ShardReplica } from "./shard-replica.js";

/** After so long nobody waits for the configurations. */
const READ_MS = 1_000;
/** A copy that was lost is replaced by compare-and-set: so often is it tried when others were faster. */
const REPLACE_ATTEMPTS_MAX = 10;
const TICK_MS = 100;
/** The store is asked every so many heartbeats, though nobody needs its lease: a change may have passed by. */
const REFRESH_HEARTBEATS = 8;
const HAND_OVER_MS_MAX = 5_000;
const LEAVE_MS_MAX = 1_000;

/** The copies of one node: their leases, what they send each other, and the configurations that they follow. */
export class NodeCopies implements Disposable {
  readonly memory: NodeMemory;
  readonly #options: NodeCopiesOptions;
  readonly #timing: Timing;
  readonly #leases: NodeLeases;
  readonly #replicas = new Map<ShardKey, ShardReplica>();
  /** Those that are placed here and not open. */
  readonly #closedCopies = new Map<ShardKey, ClosedCopy>();
  readonly #around: ReplicaSurroundings;
  readonly #listeners = new Set<(event: ReplicaEvent) => void>();
  readonly #subscription: Disposable;
  readonly #ticking: NodeJS.Timeout;
  #snapshot: CopiesSnapshot | undefined;
  /** What each shard's class was made with. */
  readonly #initial = new Map<ShardKey, ShardConfiguration>();
  /** What was known of each of them from an earlier history of the store. */
  readonly #former = new Map<ShardKey, ShardConfiguration>();
  readonly #waitedFor = new Set<ShardReplica>();
  readonly #due: DueEvents;
  /** Of all configurations that are followed, and of some that no longer are; looked for anew with heartbeats. */
  #followed: FollowedNodes;
  #isFollowedOld = false;
  /** The leases that were held when primaries that lack one were looked for last, and whether there were any. */
  #leasesSeen = "";
  #hasHindered = false;
  /** Those that were held when requests that wait were looked at last. */
  #leasesWaited = "";
  /** Nodes whose silence has been reported. */
  #silent: ReadonlySet<string> = new Set();
  #nextHeartbeat = 0;
  #heartbeats = 0;
  #refreshing: Promise<void> | undefined;
  #isRefreshDue = false;
  #asking: Promise<void> | undefined;
  #askingNext: Promise<void> | undefined;
  readonly #proposals: Proposals;
  readonly #lags = new CopyLags();
  readonly #counts = { takenOver: 0, takenOut: 0, fullCopies: { begun: 0, withGraph: 0, linked: 0, givenUp: 0 } };

  constructor(options: NodeCopiesOptions) {
    const { leaseMs, now, newId, journalKeepEntries, service } = options;
    const busy = new Set<ShardReplica>();
    const timing = loadedTiming(leaseMs, () => busy.size);
    this.#options = options;
    this.#timing = timing;
    this.#leases = new NodeLeases(newId(), now(), timing);
    this.#proposals = new Proposals(options);
    this.#due = new DueEvents(now);
    this.#followed = new FollowedNodes(options.nodeName);
    this.memory = new NodeMemory(now, leaseMs, (event) => this.#around.onEvent(event));
    this.#around = {
      ...{ leases: this.#leases, timing, journalKeepEntries, now, newId, waitedFor: this.#waitedFor, busy },
      wake: (replica) => this.#due.add(replica, { type: "wake" }),
      onEvent: (event) => {
        if (event.type === "configured") this.#follow(event.after);
        this.#count(event);
        for (const listener of this.#listeners) listener(event);
      },
      send: (shard, from, to, message) => options.send(nodeOf(to), { type: "copy", shard, from, to, message }),
      propose: (shard, next) => this.#proposals.propose({ shard, next }),
      sendGraph: (message) => options.send(nodeOf(message.to), message),
      ...{ memory: this.memory, transfers: new CopyTransfers(options.transferBytesPerSecond) },
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

  /** The copy of that shard on this node, open or not; undefined when the shard has no copies, or none here. */
  nameOf(address: ShardAddress): CopyName | undefined {
    const configuration = this.#configuration(shardKeyOf(address));
    return configuration && this.#ownOf(configuration);
  }

  /** A copy is placed here, and will be opened when there is time for it. */
  expect(address: ShardAddress, record: ClassRecord): void {
    const initial = initialConfigurations(record.sharding).get(address.shardName);
    if (initial === undefined) return;
    const key = shardKeyOf(address);
    this.#initial.set(key, initial);
    if (!this.#replicas.has(key)) this.#begunClosed(key);
  }

  /** It could not be opened. */
  failed(address: ShardAddress): void {
    this.#closedCopies.get(shardKeyOf(address))?.failed(this.#options.now());
  }

  /**
   * Opens the copy of a shard that its class places here. One that is not on the disk, and was or may have been, is replaced by a new
   * one where others hold what it held; else it fails with `dataLoss`. So does one that is damaged, while another copy is in sync.
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
    const open = () =>
      place.open(isThere, { name, since, carrier: replica, shortNode: () => this.memory.shortNode(replica) });
    const { shard, store } = await openWhole(place, () => this.#hasAnother(key), open);
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
    this.#closedCopies.delete(key);
    const configuration = this.#configuration(key) ?? initial;
    this.#meet(configuration);
    replica.start(copy, configuration, !isThere);
    const onClose = () => this.#closed(replica);
    return { shard: replicatedShard(shard, replica, this.memory, onClose), store, replica };
  }

  /** What another node has sent. */
  receive(from: string, message: NodeMessage): void {
    const now = this.#options.now();
    if (message.type === "heartbeat") {
      this.#leases.receive(from, message.heartbeat, now);
      this.memory.heard(from, message.memory);
      return;
    }
    if (nodeOf(message.from) !== from) return;
    const { shard, to } = message;
    const replica = this.#replicas.get(shard);
    if (message.type !== "copy") {
      if (replica?.name === to) replica.takeGraph(message);
      return;
    }
    if (replica?.name === to) {
      replica.handle({ type: "message", from: message.from, message: message.message });
      return;
    }
    // Also for a copy that is not there any more, or has another name.
    const closed = this.#closedCopies.get(shard) ?? new ClosedCopy(this.#aroundClosed(shard), now);
    this.#carryOut(shard, to, closed.message(message.from, message.message, this.#configuration(shard)));
  }

  /** As of now, and since the start of the process. */
  statistics(): CopyStatistics {
    const { sentBytes } = this.#around.transfers;
    return { ...countCopies(this.#replicas.values(), this.#lags), ...this.#counts, sentBytes };
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
    this.#former.delete(key);
    this.#closedCopies.delete(key);
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
    this.#due[Symbol.dispose]();
    for (const replica of this.#replicas.values()) replica.stop();
    this.#replicas.clear();
    this.#closedCopies.clear();
  }

  #count(event: ReplicaEvent): void {
    if (event.type === "fullCopyBegun") this.#counts.fullCopies.begun++;
    if (event.type === "fullCopyEnded") this.#counts.fullCopies[event.outcome]++;
    if (event.type !== "configured") return;
    const { before, after } = event;
    const replica = this.#replicas.get(shardKeyOf(event.shard));
    if (replica !== undefined) this.#lags.follow(replica, after);
    if (before === undefined) return;
    if (nodeOf(after.primary) !== this.#options.nodeName) return;
    if (before.primary !== after.primary) this.#counts.takenOver++;
    else this.#counts.takenOut += before.inSync.filter((copy) => !after.inSync.includes(copy)).length;
  }

  /** The copy is not served any more. */
  #closed(replica: ShardReplica): void {
    replica.stop();
    this.#isFollowedOld = true;
    if (this.#replicas.get(replica.key) !== replica) return;
    this.#replicas.delete(replica.key);
    this.#begunClosed(replica.key);
  }

  #begunClosed(shard: ShardKey): void {
    this.#closedCopies.set(shard, ClosedCopy.begin(this.#aroundClosed(shard), this.#options.now()));
  }

  #aroundClosed(shard: ShardKey): ClosedCopyOptions {
    return { node: this.#options.nodeName, shard, leases: this.#leases, timing: this.#timing };
  }

  /** What is to be done for a copy that is not open. */
  #carryOut(shard: ShardKey, from: CopyName, effects: readonly CopyEffect[]): void {
    for (const effect of effects) {
      if (effect.type === "propose") void this.#proposals.propose({ shard, next: effect.next });
      if (effect.type === "refresh") void this.#refresh();
      if (effect.type !== "send") continue;
      const { to, message } = effect;
      this.#options.send(nodeOf(to), { type: "copy", shard, from, to, message });
    }
  }

  #configuration(key: ShardKey): ShardConfiguration | undefined {
    const known = this.#snapshot?.configurations.get(key) ?? this.#initial.get(key);
    const former = this.#former.get(key);
    return former !== undefined && former.version > (known?.version ?? 0) ? former : known;
  }

  /** A store that was put back from a backup knows less than this node, which goes on by what it knows. */
  #keepFormer(before: CopiesSnapshot): void {
    for (const key of this.#initial.keys()) {
      const former = before.configurations.get(key);
      if (former !== undefined && former.version > (this.#former.get(key)?.version ?? 0)) this.#former.set(key, former);
    }
  }

  #ownOf(configuration: ShardConfiguration): CopyName | undefined {
    return copiesOf(configuration).find((copy) => nodeOf(copy) === this.#options.nodeName);
  }

  /** Whether a copy on another node has everything, as far as is known; it may be lost, when an operator says so. */
  async #hasAnother(key: ShardKey): Promise<boolean> {
    if (this.#options.isLossAccepted === true) return false;
    await this.#asked().catch(() => undefined);
    return this.#configuration(key)?.inSync.some((copy) => nodeOf(copy) !== this.#options.nodeName) === true;
  }

  /** The name of a copy that has no store yet. */
  async #newCopy(
    address: ShardAddress,
    key: ShardKey,
    isMade: boolean,
  ): Promise<{ readonly name: CopyName; readonly since: number }> {
    const { nodeName, ownCopy, newId, isLossAccepted } = this.#options;
    await this.#asked();
    for (let attempt = 0; attempt < REPLACE_ATTEMPTS_MAX; attempt++) {
      const configuration = this.#configuration(key);
      const own = configuration && this.#ownOf(configuration);
      if (configuration === undefined || own === undefined) {
        throw new ShoalError("unavailable", `${shardPlaceOf(address)} has no copy on node '${nodeName}'`);
      }
      // It has never taken part, and without it nothing was acknowledged: what is not there was never there.
      const isNew = !isMade && (configuration.version === 1 || isLossAccepted !== true);
      if (isNew && own === ownCopy) return { name: own, since: 1 };
      if (configuration.inSync.length === 1 && configuration.inSync[0] === own) {
        throw new ShoalError(
          "dataLoss",
          `${shardPlaceOf(address)}: the last copy in sync was on node '${nodeName}', and is not in its folder`,
        );
      }
      const name = `${ownCopy}.${newId()}`;
      const decision = await this.#proposals.propose({ shard: key, next: withdrawn(configuration, own, name) });
      if (decision?.isAccepted === true) return { name, since: configuration.version + 1 };
      await this.#asked();
    }
    throw new ShoalError("unavailable", `${shardPlaceOf(address)}: its lost copy could not be replaced yet`);
  }

  /** What is known afterwards is as new as every change that was answered before. Those that come during a read share the next one. */
  #asked(): Promise<void> {
    if (this.#asking === undefined) return this.#ask();
    this.#askingNext ??= this.#asking
      .catch(() => undefined)
      .then(() => {
        this.#askingNext = undefined;
        return this.#asking ?? this.#ask();
      });
    return this.#askingNext;
  }

  #ask(): Promise<void> {
    const { service, clock } = this.#options;
    this.#asking = service
      .current({ deadline: clock() + READ_MS })
      .then((snapshot) => this.#take(snapshot))
      .finally(() => {
        this.#asking = undefined;
      });
    return this.#asking;
  }

  #take(snapshot: CopiesSnapshot): void {
    const before = this.#snapshot;
    if (before === snapshot) return;
    if (before !== undefined && before.historyId === snapshot.historyId && before.version > snapshot.version) return;
    if (before !== undefined && before.historyId !== snapshot.historyId) this.#keepFormer(before);
    this.#snapshot = snapshot;
    for (const [key, replica] of this.#replicas) {
      const configuration = snapshot.configurations.get(key);
      if (configuration === undefined || configuration === before?.configurations.get(key)) continue;
      this.#meet(configuration);
      replica.handle({ type: "configuration", configuration });
    }
  }

  /** Nodes that share a shard with this one from now on. */
  #meet(configuration: ShardConfiguration): void {
    const { nodeName, now } = this.#options;
    for (const node of [...configuration.inSync, ...configuration.learners].map(nodeOf)) {
      if (node !== nodeName && !this.#followed.peers.has(node)) this.#leases.meet(node, now());
    }
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
      this.#take(await service.current({ deadline: clock() + READ_MS }));
      this.#leases.confirmedBy(STORE, stamp, now());
    } catch {
      // It is asked again; without it the store gives no lease.
    }
  }

  /** With thousands of shards of which nothing is heard or asked none of them is looked at. */
  #tick(): void {
    const now = this.#options.now();
    const isBeat = (this.#followed.peers.size > 0 && this.memory.look()) || now >= this.#nextHeartbeat;
    if (isBeat) {
      this.#nextHeartbeat = now + this.#timing.heartbeatMs;
      if (this.#isFollowedOld) this.#followAnew();
      this.#beat(now);
    } else {
      // Whoever has just come to share a shard gets its lease soon.
      for (const peer of this.#followed.peers) {
        if (this.#leases.held(peer, now) === undefined) this.#sendHeartbeat(peer, now);
      }
    }
    const silentAfter = this.#timing.silenceMs * (1 + this.#timing.drift);
    const { primaries } = this.#followed;
    const silent = new Set([...primaries].filter((node) => this.#leases.heardAt(node) + silentAfter <= now));
    const isNews = [...silent].some((node) => !this.#silent.has(node));
    this.#silent = silent;
    if (silent.size > 0 && (isBeat || isNews)) this.#tellSilent(silent);
    const leases = [...this.#followed.peers, STORE].map((peer) => this.#leases.held(peer, now)).join();
    // All else that requests wait for is an event of the replica.
    if (isBeat || leases !== this.#leasesWaited) {
      for (const replica of this.#waitedFor) this.#due.add(replica, { type: "wake" });
    }
    this.#leasesWaited = leases;
    for (const [shard, closed] of this.#closedCopies) {
      const configuration = this.#configuration(shard);
      if (configuration !== undefined) this.#carryOut(shard, this.#options.ownCopy, closed.step(configuration, now));
    }
    if (isBeat) this.#wakeHindered(leases);
  }

  #tellSilent(silent: ReadonlySet<string>): void {
    for (const replica of this.#replicas.values()) {
      const node = replica.configuration && nodeOf(replica.configuration.primary);
      if (node !== undefined && silent.has(node)) this.#due.add(replica, { type: "silent", node });
    }
  }

  /** Primaries begin to lack a lease, and no longer do, when one ends, begins again, or a configuration changes. */
  #wakeHindered(leases: string): void {
    if (leases === this.#leasesSeen && !this.#hasHindered) return;
    this.#leasesSeen = leases;
    this.#hasHindered = false;
    for (const replica of this.#replicas.values()) {
      if (!replica.isHindered) continue;
      this.#hasHindered = true;
      this.#due.add(replica, { type: "wake" });
    }
  }

  /** What a configuration asks for counts at once; what none asks for any more, a heartbeat later. */
  #follow(configuration: ShardConfiguration): void {
    this.#followed.follow(configuration);
    this.#isFollowedOld = true;
  }

  #followAnew(): void {
    const configurations = [...this.#replicas.values()].flatMap(({ configuration }) => configuration ?? []);
    this.#followed = new FollowedNodes(this.#options.nodeName, configurations);
    this.#isFollowedOld = false;
    // Who is primary is looked at once more.
    this.#hasHindered = true;
  }

  #sendHeartbeat(peer: string, now: number): void {
    const heartbeat = this.#leases.heartbeatTo(peer, now);
    this.#options.send(peer, { type: "heartbeat", heartbeat, memory: this.memory.sent });
  }

  #beat(now: number): void {
    const { peers, needsStore } = this.#followed;
    for (const peer of peers) this.#sendHeartbeat(peer, now);
    if (needsStore || this.#heartbeats++ % REFRESH_HEARTBEATS === 0) void this.#refresh();
  }
}
