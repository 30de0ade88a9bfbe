import { setTimeout as sleep } from "node:timers/promises";
import { ShoalError } from "@shoal/model";
import {
  type Change,
  type CopyEffect,
  type CopyEvent,
  type CopyMessage,
  type CopyName,
  type CopyState,
  type NodeLeases,
  type ShardConfiguration,
  ShardCopy,
  START,
  type Timing,
} from "@shoal/replication";
import { type ShardAddress, type ShardKey, ShardMoved, shardPlaceOf } from "@shoal/rpc";
import type { CommitCarrier, CopyStore } from "@shoal/shard";
import type { CopyTransfers } from "./copy-transfers.js";
import { bytesOf, FullCopy } from "./full-copy.js";
import type { NodeMemory } from "./node-memory.js";
import { ReceivedGraph } from "./received-graph.js";
import { givenUp, tooFewInSync, unknownOutcome } from "./refused-writes.js";
import type { ReplicaEvent } from "./replica-event.js";
import { type GraphMessage, SentRows } from "./sent-rows.js";
import { untilTaken } from "./until-taken.js";

/** What the replicas of a node share, and how they reach the rest of the cluster. */
export interface ReplicaSurroundings {
  readonly leases: NodeLeases;
  readonly timing: Timing;
  /** Entries that a journal keeps for copies that are away. */
  readonly journalKeepEntries: number;
  /** Milliseconds of the monotonic clock. */
  readonly now: () => number;
  /** Never the same twice, on any node. */
  readonly newId: () => string;
  /** It may be lost. */
  readonly send: (shard: ShardKey, from: CopyName, to: CopyName, message: CopyMessage) => void;
  readonly sendGraph: (message: GraphMessage) => void;
  readonly transfers: CopyTransfers;
  readonly memory: NodeMemory;
  /** Undefined: nobody knows what became of it. */
  readonly propose: (
    shard: ShardKey,
    next: ShardConfiguration,
  ) => Promise<{ readonly isAccepted: boolean; readonly current: ShardConfiguration | undefined } | undefined>;
  /** Reads all configurations anew. */
  readonly refresh: () => void;
  readonly onEvent: (event: ReplicaEvent) => void;
  /** Its time has come: it gets a `wake`, after others whose time has come. */
  readonly wake: (replica: ShardReplica) => void;
  /** Those that have something to do, if only to wait for a response. */
  readonly busy: Set<ShardReplica>;
  /** Those that requests wait for: they are woken with heartbeats and when a lease begins or ends. */
  readonly waitedFor: Set<ShardReplica>;
}

/** The commit that the primary carries. */
interface OwnCommit {
  readonly changes: readonly Change[];
  readonly write: (state: CopyState) => Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: ShoalError) => void;
  /** Its clients wait no longer. */
  readonly giveUpMs: number;
}

/** So long does a read or a commit wait for what hinders the primary for a moment: a lease, the beginning of its epoch. */
const WAIT_MS_MAX = 2_000;

/** A commit that is not acknowledged for so many leases, because nobody can change the configuration, is not waited for. */
const GIVE_UP_LEASES = 3;

/** So long do those wait that come later, while it is still not acknowledged. */
const GIVE_UP_AGAIN_MS = 250;

const LEAVE_PAUSE_MS = 50;

/** What a slow machine indexes in a millisecond: texts of many words take longest. */
const WORK_BYTES_A_MS = 2_048;

const BEHIND = "the copy takes over what its journal has";

/** One copy of a shard: drives its state machine with a real clock, store and network. */
export class ShardReplica implements CommitCarrier {
  readonly address: ShardAddress;
  readonly key: ShardKey;
  readonly #around: ReplicaSurroundings;
  #store: CopyStore | undefined;
  #machine: ShardCopy | undefined;
  #own: OwnCommit | undefined;
  #draftedEpoch = 0;
  /** Those that wait for another state. */
  readonly #waiting = new Set<() => void>();
  readonly #sent: SentRows;
  readonly #received: ReceivedGraph;
  readonly #fullCopy: FullCopy;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #isStopped = false;
  #isDamaged = false;

  constructor(address: ShardAddress, key: ShardKey, around: ReplicaSurroundings) {
    this.address = address;
    this.key = key;
    this.#around = around;
    const { transfers, sendGraph, memory } = around;
    const end = () => this.#machine?.state.end ?? START;
    const graphFailed = (thrown: unknown) => this.#report("graphFailed", thrown);
    const handle = (event: CopyEvent) => this.handle(event);
    this.#sent = new SentRows({ key, transfers, send: sendGraph, end, handle, graphFailed });
    this.#fullCopy = new FullCopy({
      now: around.now,
      primary: () => this.configuration?.primary,
      onEvent: (event) => around.onEvent({ ...event, shard: address }),
    });
    this.#received = new ReceivedGraph(sendGraph, this.#fullCopy, memory);
  }

  /** A piece of the graph of its primary, or the response to one of its own. */
  takeGraph(message: GraphMessage): void {
    const store = this.#store;
    if (store === undefined || this.#isStopped) return;
    if (message.type === "graphTaken") this.#sent.taken(message);
    else if (!this.isInSync && message.from === this.configuration?.primary) void this.#received.take(store, message);
  }

  /** To be called once, when the store is open. `isNew`: it was made just now. */
  start(store: CopyStore, configuration: ShardConfiguration, isNew: boolean): void {
    const { leases, timing, journalKeepEntries, newId } = this.#around;
    const { name, state } = store;
    this.#store = store;
    this.#machine = new ShardCopy({
      ...{ name, claim: newId(), shard: this.key, state, isNew, leases, timing, journalKeepEntries },
    });
    this.handle({ type: "configuration", configuration });
  }

  get name(): CopyName | undefined {
    return this.#store?.name;
  }

  get configuration(): ShardConfiguration | undefined {
    return this.#machine?.configuration;
  }

  get isPrimary(): boolean {
    return this.#machine?.isPrimary === true && !this.#isStopped;
  }

  /** Whether it has everything that was acknowledged, as far as it knows. */
  get isInSync(): boolean {
    const { name, configuration } = this;
    return name !== undefined && configuration?.inSync.includes(name) === true;
  }

  /** The last change that it has durably. */
  get end(): number {
    return this.#machine?.state.end.sequence ?? 0;
  }

  /** Whether it is primary, and lacks a lease or is about to begin. */
  get isHindered(): boolean {
    return this.isPrimary && this.#readFault() !== undefined;
  }

  handle(event: CopyEvent): void {
    const machine = this.#machine;
    if (machine === undefined || this.#isStopped) return;
    if (event.type === "message" && !this.#around.memory.takes(this, event.message)) return;
    const before = machine.configuration;
    const wasPrimary = machine.isPrimary;
    const effects = machine.handle(event, this.#around.now());
    const after = machine.configuration;
    for (const effect of effects) this.#carryOut(effect);
    if (wasPrimary && !machine.isPrimary) this.#sent.closeAll();
    if (after !== undefined && after !== before) {
      this.#around.onEvent({ type: "configured", shard: this.address, before, after });
    }
    // Who waits for a node that is away has nothing to do.
    const { busy, timing, now } = this.#around;
    if (machine.wakeAt < now() + 4 * timing.resendMs && !this.#isStopped) busy.add(this);
    else busy.delete(this);
    this.#schedule(Math.min(machine.wakeAt, this.#giveUp()));
    for (const wake of [...this.#waiting]) wake();
  }

  /** The epoch of a commit that may begin now. */
  begin(): number | Promise<number> {
    return this.#commitFault() === undefined ? this.#beginEpoch() : this.#begun();
  }

  /** What is drafted now belongs to the present epoch, and goes into no other one. */
  #beginEpoch(): number {
    this.#draftedEpoch = this.configuration?.epoch ?? 0;
    return this.#draftedEpoch;
  }

  #commitFault(): string | undefined {
    if (this.#isStopped) return "the copy is being closed";
    return this.#machine === undefined ? "the copy is being opened" : this.#machine.commitFault(this.#around.now());
  }

  carry(changes: readonly Change[], write: (state: CopyState) => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const isOver = this.configuration?.epoch !== this.#draftedEpoch;
      const fault = isOver ? "its epoch has ended" : this.#commitFault();
      if (fault !== undefined) {
        reject(this.#moved(fault));
        return;
      }
      const { now, timing } = this.#around;
      const workMs = bytesOf(changes) / WORK_BYTES_A_MS;
      const giveUpMs = now() + GIVE_UP_LEASES * timing.leaseMs + workMs;
      this.#own = { changes, write, resolve, reject, giveUpMs };
      this.handle({ type: "commit", changes, workMs });
    });
  }

  /** Answers what only the primary may, while it surely is. */
  async linear<T>(read: () => T | Promise<T>): Promise<T> {
    if (this.#readFault() !== undefined) await this.#until(() => this.#readFault());
    const result = await this.#whole(read);
    const fault = this.#readFault();
    if (fault !== undefined) throw this.#moved(fault);
    return result;
  }

  /** Why it may not answer now what only the primary may. */
  linearRefusal(): ShoalError | undefined {
    const fault = this.#readFault();
    return fault === undefined ? undefined : this.#moved(fault);
  }

  /** Answers what any copy in sync may. */
  async search<T>(read: () => T | Promise<T>): Promise<T> {
    this.#checkSearch();
    const result = await this.#whole(read);
    this.#checkSearch();
    return result;
  }

  /**
   * What is answered for `error`, with which nothing was done. When it is damage and another copy is in sync, that one has what is lost
   * here: this copy answers no more then, and others are to be asked.
   */
  refusal(error: ShoalError): ShoalError {
    const { configuration, name } = this;
    if (error.code !== "dataLoss" || configuration?.inSync.some((copy) => copy !== name) !== true) return error;
    if (!this.#isDamaged && !this.#isStopped) {
      this.#isDamaged = true;
      // As one whose disk fails: it lets another copy be primary.
      this.handle({ type: "writeFailed" });
      this.#abandon("its store is damaged");
      this.#report("copyDamaged", error);
    }
    return this.#moved(error.message);
  }

  async #whole<T>(read: () => T | Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (thrown) {
      throw thrown instanceof ShoalError ? this.refusal(thrown) : thrown;
    }
  }

  /** Lets another copy be primary; resolves when one is, at the latest after `msMax`. */
  async handOver(msMax: number): Promise<void> {
    const untilMs = this.#around.now() + msMax;
    while (this.isPrimary && this.#around.now() < untilMs) {
      // Again: it is forgotten while no other copy could go on, as when each has still to answer a commit.
      this.handle({ type: "handOver" });
      await this.#changed(untilMs);
    }
  }

  /**
   * Its node goes: asks the primary to go on without this copy, where enough are left, so that no commit waits for it. Resolves when it is
   * not in sync any more, at the latest after `msMax`.
   */
  async leave(msMax: number): Promise<void> {
    const untilMs = this.#around.now() + msMax;
    for (;;) {
      const { configuration, name } = this;
      const machine = this.#machine;
      if (configuration === undefined || machine === undefined || name === undefined || this.#isStopped) return;
      const { inSync, minInSync, primary, epoch } = configuration;
      const mayGo = inSync.includes(name) && primary !== name && inSync.length > minInSync;
      if (!mayGo || this.#around.now() >= untilMs) return;
      // As if its journal went on elsewhere.
      this.#around.send(this.key, name, primary, { type: "gap", epoch, end: machine.state.end });
      await sleep(LEAVE_PAUSE_MS);
    }
  }

  /** Takes part no more. Nobody knows what becomes of the commit that is under way. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#around.busy.delete(this);
    clearTimeout(this.#timer);
    this.#abandon("the copy is being closed");
    this.#sent.closeAll();
    this.#fullCopy.giveUp();
    for (const wake of [...this.#waiting]) wake();
  }

  /** The class is deleted: nobody is answered on account of the shard any more. */
  drop(): void {
    this.stop();
    this.#around.leases.forget(this.key);
  }

  #readFault(): string | undefined {
    if (this.#isStopped) return "the copy is being closed";
    if (this.#store?.isBehind === true) return BEHIND;
    return this.#machine === undefined ? "the copy is being opened" : this.#machine.readFault(this.#around.now());
  }

  #checkSearch(): void {
    const fault = this.#searchFault();
    if (fault !== undefined) throw this.#moved(fault);
  }

  #searchFault(): string | undefined {
    if (this.#isStopped) return "the copy is being closed";
    if (this.#store?.isBehind === true) return BEHIND;
    return this.#machine === undefined ? "the copy is being opened" : this.#machine.searchFault(this.#around.now());
  }

  async #begun(): Promise<number> {
    await this.#until(() => {
      const { configuration } = this;
      const fault = this.#commitFault();
      if (fault !== undefined && this.isPrimary && configuration !== undefined) {
        const { inSync, minInSync } = configuration;
        if (inSync.length < minInSync) throw tooFewInSync(this.#place, configuration);
      }
      return fault;
    });
    return this.#beginEpoch();
  }

  /** Resolves when there is no fault; fails with `moved` when the copy is not primary, or the fault stays. */
  async #until(fault: () => string | undefined): Promise<void> {
    const untilMs = this.#around.now() + WAIT_MS_MAX;
    for (let why = fault(); why !== undefined; why = fault()) {
      if (!this.isPrimary || this.#around.now() >= untilMs) throw this.#moved(why);
      await this.#changed(untilMs);
    }
  }

  /** Resolves after the next event, at the latest at `untilMs`. */
  async #changed(untilMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        if (this.#waiting.size === 0) this.#around.waitedFor.delete(this);
        resolve();
      };
      const timer = setTimeout(done, Math.max(1, untilMs - this.#around.now()));
      this.#waiting.add(done);
      this.#around.waitedFor.add(this);
    });
  }

  get #place(): string {
    return shardPlaceOf(this.address);
  }

  #moved(why: string): ShoalError {
    return new ShardMoved(`${this.#place}: copy ${this.name ?? ""} does not answer, ${why}`, this.configuration);
  }

  #abandon(why: string): void {
    const own = this.#own;
    this.#own = undefined;
    own?.reject(unknownOutcome(this.#place, why));
  }

  /**
   * Clients do not wait for a commit that cannot be acknowledged for a while; it may be later. Returns when this is to be looked at again,
   * though nothing has happened: others may have come to wait for it.
   */
  #giveUp(): number {
    const { configuration } = this;
    const own = this.#own;
    if (own === undefined || configuration === undefined) return Number.POSITIVE_INFINITY;
    const now = this.#around.now();
    if (configuration.inSync.length >= configuration.minInSync && now < own.giveUpMs) return own.giveUpMs;
    const { waiting, underWay } = givenUp(this.#place, configuration);
    this.#store?.giveUp(waiting, underWay);
    return now + GIVE_UP_AGAIN_MS;
  }

  #schedule(wakeAt: number): void {
    if (wakeAt >= this.#timerAt || this.#isStopped) return;
    clearTimeout(this.#timer);
    this.#timerAt = wakeAt;
    // A machine that is woken too early does nothing.
    const ms = Math.max(0, Math.ceil(wakeAt - this.#around.now()));
    this.#timer = setTimeout(() => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      this.#around.wake(this);
    }, ms);
  }

  #carryOut(effect: CopyEffect): void {
    const store = this.#store;
    if (store === undefined) return;
    switch (effect.type) {
      case "send":
        if (effect.message.type === "hello" && !this.#around.memory.mayAsk(this)) return;
        this.#around.send(this.key, store.name, effect.to, effect.message);
        return;
      case "write":
        void this.#write(store, effect);
        return;
      case "propose":
        void this.#propose(effect.next);
        return;
      case "refresh":
        this.#around.refresh();
        return;
      case "listChanges":
        this.#asked(async () => {
          const documents = await store.changesAfter(effect.after);
          this.handle({ type: "changes", session: effect.session, documents });
        });
        return;
      case "openRows":
        this.#asked(() => this.#sent.open(store, effect));
        return;
      case "nextRows":
        this.#asked(() => this.#sent.next(effect.session));
        return;
      case "committed": {
        const own = this.#own;
        this.#own = undefined;
        own?.resolve();
        return;
      }
      case "abandoned":
        this.#abandon("the copy was primary until then");
        return;
      case "takesBack":
        this.#around.onEvent({ ...effect, shard: this.address });
        return;
      case "discard":
        this.stop();
        this.#around.onEvent({ type: "discarded", shard: this.address });
    }
  }

  /** What cannot be read is asked for again by the copy that needs it. */
  #asked(work: () => Promise<void>): void {
    work().catch((thrown: unknown) => {
      this.#report("catchUpFailed", thrown);
      this.refusal(ShoalError.from(thrown));
    });
  }

  async #write(store: CopyStore, { write, batch }: Extract<CopyEffect, { type: "write" }>): Promise<void> {
    const { state, entries, rows } = batch;
    const own = this.#own;
    try {
      if (own !== undefined && entries?.changes === own.changes) await own.write(state);
      else {
        const writeOnce = async () => {
          if (rows !== undefined) await this.#fullCopy.write(store, state, rows);
          else if (entries !== undefined) await store.append(state, entries);
          else await store.writeState(state);
        };
        await untilTaken(writeOnce, () => this.#isStopped);
      }
    } catch (thrown) {
      if (this.#isStopped) return;
      this.handle({ type: "writeFailed" });
      this.#abandon("its store has failed");
      this.#report("copyFailed", thrown);
      return;
    }
    this.handle({ type: "written", write });
  }

  async #propose(next: ShardConfiguration): Promise<void> {
    const decision = await this.#around.propose(this.key, next);
    const outcome = decision === undefined ? "unknown" : decision.isAccepted ? "accepted" : "conflict";
    this.handle({ type: "proposed", outcome, configuration: decision?.current });
  }

  #report(type: "copyFailed" | "copyDamaged" | "catchUpFailed" | "graphFailed", thrown: unknown): void {
    if (!this.#isStopped) this.#around.onEvent({ type, shard: this.address, error: ShoalError.from(thrown) });
  }
}
