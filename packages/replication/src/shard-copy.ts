import { CopyCore, type CopyOptions } from "./copy-core.js";
import type { CopyEffect, CopyEvent, CopyMessage, CopyState } from "./copy-messages.js";
import { Follower } from "./follower.js";
import { Primary } from "./primary.js";
import { type CopyName, copiesOf, nodeOf, type ShardConfiguration } from "./shard-configuration.js";

/** So many messages that came before their configuration are kept. What is lost is sent again. */
const EARLY_MAX = 8;

interface EarlyMessage {
  readonly from: CopyName;
  readonly message: Extract<CopyMessage, { type: "lead" | "revoke" }>;
}

/**
 * One copy of a shard, as a state machine: events in, effects out. It has no clock, no disk and no network; `now` is the
 * monotonic clock of its process, in milliseconds. Its store may be opened by one process at a time, and each opening makes a
 * new machine, from the state that is durable.
 */
export class ShardCopy {
  readonly #core: CopyCore;
  readonly #follower: Follower;
  #primary: Primary | undefined;
  /** The primary from which it took over while it was in sync. */
  #deposed: string | undefined;
  /** The configuration has it no more. */
  #isDropped = false;
  /** Of epochs that have not been heard of here. */
  #early: readonly EarlyMessage[] = [];

  constructor(options: CopyOptions) {
    this.#core = new CopyCore(options);
    this.#follower = new Follower(this.#core);
  }

  get state(): CopyState {
    return this.#core.state;
  }

  get configuration(): ShardConfiguration | undefined {
    return this.#core.configuration;
  }

  get isPrimary(): boolean {
    return this.#primary !== undefined;
  }

  /** The sequence up to which everything is known to be acknowledged; -1: not known. */
  get committed(): number {
    return this.#core.committed;
  }

  /** When it wants a `wake`, by the clock of `now`. Infinity: while nothing happens, nothing is due. */
  get wakeAt(): number {
    return this.#core.wakeAt;
  }

  /** Why an object cannot be read by id now, nor anything that decides about a write; undefined when it can. */
  readFault(now: number): string | undefined {
    this.#core.now = now;
    if (this.#core.hasFailed) return "the store of the copy has failed";
    return this.#primary === undefined ? "the copy is not primary" : this.#primary.readFault();
  }

  /** Why a search cannot be answered now. */
  searchFault(now: number): string | undefined {
    this.#core.now = now;
    if (this.#core.hasFailed) return "the store of the copy has failed";
    return this.#primary === undefined ? this.#follower.searchFault() : this.#primary.readFault();
  }

  /** Why a commit cannot begin now. */
  commitFault(now: number): string | undefined {
    return this.readFault(now) ?? this.#primary?.commitFault();
  }

  /** Whether a read of the document must wait for a commit that may never be acknowledged. */
  isUnderWay(document: string): boolean {
    return this.#primary?.isUnderWay(document) ?? false;
  }

  /** What follows from `event`, in order. */
  handle(event: CopyEvent, now: number): readonly CopyEffect[] {
    const core = this.#core;
    core.now = now;
    core.effects = [];
    core.wakeAt = Number.POSITIVE_INFINITY;
    this.#handle(event);
    if (!this.#isDropped) this.#step();
    core.sendRevocations();
    // Until then it is kept: others must not read on account of a lease that it gave as primary.
    if (this.#isDropped && !core.hasRevocations) core.effects.push({ type: "discard" });
    return core.effects;
  }

  #handle(event: CopyEvent): void {
    const core = this.#core;
    switch (event.type) {
      case "configuration":
        this.#learn(event.configuration);
        return;
      case "message":
        this.#message(event.from, event.message);
        return;
      case "written":
        core.written(event.write);
        return;
      case "writeFailed":
        core.hasFailed = true;
        return;
      case "proposed":
        if (event.configuration !== undefined) this.#learn(event.configuration);
        if (event.outcome !== "accepted") core.proposalEnded(event.outcome === "unknown");
        return;
      case "changes":
        this.#follower.changes(event);
        return;
      case "rows":
        this.#primary?.rows(event);
        return;
      case "rowsFailed":
        this.#primary?.rowsFailed(event.session);
        return;
      case "silent":
        if (this.#primary === undefined && core.configuration !== undefined) {
          if (nodeOf(core.configuration.primary) === event.node) this.#follower.silent();
        }
        return;
      case "commit":
        this.#primary?.commit(event.changes, event.workMs ?? 0);
        return;
      case "handOver":
        this.#primary?.handOver();
        return;
      case "wake":
    }
  }

  /** Who holds the shard is what the MetaStore says: others only say that there is more to know. */
  #message(from: CopyName, message: CopyMessage): void {
    const core = this.#core;
    const { configuration, leases, options } = core;
    if (configuration === undefined) return;
    const { type } = message;
    const isMember = copiesOf(configuration).some((copy) => nodeOf(copy) === nodeOf(from));
    if (type === "hello" || type === "lead" || type === "stale" || type === "revoke" || type === "askEnd") {
      if (isMember) core.hears(from, message.version);
      else if (message.version > configuration.version) core.effects.push({ type: "refresh" });
    }
    if (type === "end" && isMember) core.hears(from, message.version, message.end);
    if (type === "askEnd" && isMember && message.version < configuration.version) {
      core.send(from, { type: "stale", version: configuration.version });
      return;
    }
    if (type === "revoked") leases.revoked(options.shard, from, message.version);
    if (type === "stale" || type === "revoked") return;
    const epoch = type === "lead" ? message.epoch : type === "revoke" ? message.last.epoch : 0;
    if ((type === "lead" || type === "revoke") && epoch > configuration.epoch) {
      const others = this.#early.filter((one) => one.from !== from || one.message.type !== type);
      this.#early = [...others, { from, message }].slice(-EARLY_MAX);
      return;
    }
    if (type === "revoke" && this.#primary !== undefined) {
      leases.confirmRevoked(options.shard, message.last);
      core.send(from, { type: "revoked", version: message.version });
      return;
    }
    // Whoever had a copy may still ask that nothing is answered on its account.
    if (isMember || type === "revoke") (this.#primary ?? this.#follower).message(from, message);
  }

  #takeEarly(): void {
    const early = this.#early;
    this.#early = [];
    for (const { from, message } of early) this.#message(from, message);
  }

  #step(): void {
    if (this.#primary === undefined) this.#follower.step();
    else this.#primary.step();
  }

  #learn(configuration: ShardConfiguration): void {
    const core = this.#core;
    const before = core.configuration;
    const isTakeover = this.#follower.isTakingOver && (before?.inSync.includes(core.name) ?? false);
    if (!core.learn(configuration)) return;
    this.#follow(configuration, before, isTakeover);
    if (!this.#isDropped) this.#takeEarly();
  }

  #follow(configuration: ShardConfiguration, before: ShardConfiguration | undefined, isTakeover: boolean): void {
    const core = this.#core;
    if (!copiesOf(configuration).includes(core.name)) {
      this.#resign();
      // What it withheld while it took over would never be granted again.
      if (before !== undefined) core.release(nodeOf(before.primary));
      this.#isDropped = true;
      return;
    }
    if (configuration.primary !== core.name) {
      this.#resign();
      if (before !== undefined && before.primary !== configuration.primary) core.release(nodeOf(before.primary));
      this.#follower.configurationChanged();
      return;
    }
    if (before !== undefined && before.primary !== core.name) {
      core.release(nodeOf(before.primary));
      this.#deposed = isTakeover ? before.primary : undefined;
    }
    if (this.#primary?.epoch === configuration.epoch && before !== undefined) {
      this.#primary.configurationChanged(before);
      return;
    }
    this.#resign();
    const isOwnEpoch = configuration.claim === core.options.claim;
    this.#primary = new Primary(core, isOwnEpoch ? this.#deposed : undefined);
  }

  #resign(): void {
    this.#primary?.resign();
    this.#primary = undefined;
    this.#core.pinnedFrom = Number.POSITIVE_INFINITY;
  }
}
