import { isDeepStrictEqual } from "node:util";
import type { CopyBatch, CopyEffect, CopyMessage, CopyState } from "./copy-messages.js";
import { arePositionsEqual, type JournalPosition } from "./journal-position.js";
import type { LeadNumber, NodeLeases } from "./node-leases.js";
import { type CopyName, copiesOf, nodeOf, proposalFault, type ShardConfiguration } from "./shard-configuration.js";
import type { Timing } from "./timing.js";
import type { WrongVariant } from "./wrong-variants.js";

export interface CopyOptions {
  readonly name: CopyName;
  /** Drawn for each opening of the store: an epoch that this one has made names it. */
  readonly claim: string;
  /** Names the shard among all of the node. */
  readonly shard: string;
  readonly state: CopyState;
  /** Its store was made by this opening: it has nothing to lose. */
  readonly isNew?: boolean;
  readonly leases: NodeLeases;
  readonly timing: Timing;
  /** Entries that the journal keeps for copies that are away. */
  readonly journalKeepEntries: number;
  /** Commits that wait for a copy that catches up. */
  readonly queuedCommitsMax?: number;
  readonly wrong?: WrongVariant | undefined;
}

/** A node that is away for hours is asked less often: it shares thousands of shards, perhaps. */
const AWAY_RESENDS = 8;

/** What the roles of a copy share: its state, its time, what it asks of others. */
export class CopyCore {
  readonly options: CopyOptions;
  state: CopyState;
  configuration: ShardConfiguration | undefined;
  now = 0;
  /** Everything up to this sequence is acknowledged; -1: not known since the start. */
  committed = -1;
  hasFailed = false;
  /** Since its opening it has met a copy that has everything acknowledged: what this one's disk may have lost would have been seen. */
  hasMetOthers: boolean;
  #openedAt: number | undefined;
  /** What follows this sequence in the journal is needed. */
  pinnedFrom = Number.POSITIVE_INFINITY;
  /** When the earliest thing is due. */
  wakeAt = Number.POSITIVE_INFINITY;
  effects: CopyEffect[] = [];
  /** Changes that were proposed of the present configuration, and may still be made. */
  maybes: ShardConfiguration[] = [];
  #proposedAt = Number.NEGATIVE_INFINITY;
  #write = 0;
  #afterWrite: (() => void) | undefined;
  /** Where the journal begins once what is being written is durable. */
  #nextBase = 0;
  #soughtAt = Number.NEGATIVE_INFINITY;
  /** By node: what its copy has said last of what it knows. */
  readonly #heard = new Map<string, { readonly version: number; readonly epoch: number }>();
  /** Since it was opened another copy has answered that it knows of nothing later. */
  hasHeardOthers = false;

  constructor(options: CopyOptions) {
    this.options = options;
    this.state = options.state;
    this.hasMetOthers = options.isNew === true;
  }

  get name(): CopyName {
    return this.options.name;
  }

  get timing(): Timing {
    return this.options.timing;
  }

  get leases(): NodeLeases {
    return this.options.leases;
  }

  get isComplete(): boolean {
    return this.state.through <= this.state.end.sequence;
  }

  /** Whether all that it holds is known to be acknowledged. */
  get isTailKnown(): boolean {
    return this.committed === this.state.end.sequence;
  }

  get isWriting(): boolean {
    return this.#afterWrite !== undefined;
  }

  /** What follows this sequence is in the journal, also when what is being written is durable. */
  get reach(): number {
    return this.isWriting ? Math.max(this.state.base, this.#nextBase) : this.state.base;
  }

  areEqual(one: JournalPosition, other: JournalPosition): boolean {
    if (this.is("journals are compared by sequence alone")) return one.sequence === other.sequence;
    return arePositionsEqual(one, other);
  }

  is(wrong: WrongVariant): boolean {
    return this.options.wrong === wrong;
  }

  send(to: CopyName, message: CopyMessage): void {
    this.effects.push({ type: "send", to, message });
  }

  wakeAfter(ms: number): void {
    this.wakeAt = Math.min(this.wakeAt, this.now + ms);
  }

  /** `then` is called when the batch is durable. Only while nothing else is written. */
  write(batch: CopyBatch, then: () => void): void {
    this.#write++;
    this.#nextBase = batch.state.base;
    this.#afterWrite = () => {
      this.state = batch.state;
      then();
    };
    this.effects.push({ type: "write", write: this.#write, batch });
  }

  written(write: number): void {
    const then = this.#afterWrite;
    if (write !== this.#write || then === undefined) return;
    this.#afterWrite = undefined;
    then();
  }

  /** Whether a change may be proposed now: none is under way, or its result is overdue, and nobody knows of a later configuration. */
  mayPropose(): boolean {
    if (this.#isBehind) return false;
    const due = this.#proposedAt + this.timing.resendMs;
    if (this.maybes.length === 0 || this.now >= due) return true;
    this.wakeAfter(due - this.now);
    return false;
  }

  propose(next: ShardConfiguration): void {
    const { configuration } = this;
    if (configuration === undefined) return;
    const fault = proposalFault(configuration, next, this.node);
    if (fault !== undefined) throw new Error(`${this.name} proposes what cannot be: ${fault}`);
    this.#proposedAt = this.now;
    // The same again and again, while nobody decides.
    if (!this.maybes.some((maybe) => isDeepStrictEqual(maybe, next))) this.maybes = [...this.maybes, next];
    this.effects.push({ type: "propose", next });
    this.wakeAfter(this.timing.resendMs);
  }

  /** A proposal was refused, or its outcome is not known. */
  proposalEnded(isUnknown: boolean): void {
    if (isUnknown) this.effects.push({ type: "refresh" });
    this.wakeAfter(this.timing.resendMs);
  }

  /** False: it is known already, or older than the copy. */
  learn(configuration: ShardConfiguration): boolean {
    const { version } = configuration;
    if (version < this.state.since || version <= (this.configuration?.version ?? 0)) return false;
    this.#openedAt ??= this.now;
    this.configuration = configuration;
    this.maybes = [];
    this.#proposedAt = Number.NEGATIVE_INFINITY;
    return true;
  }

  /** The first entry that the journal keeps follows this sequence, once it ends at `end`. */
  baseAt(end: number): number {
    return Math.max(this.state.base, Math.min(this.pinnedFrom, end - this.options.journalKeepEntries));
  }

  /**
   * Whether it should not go on without the others yet. A log whose end is gone leaves no trace on the disk, and the copy would take
   * back from the others what it has lost; where all come back from the same fault, one of them is soon there.
   */
  get waitsForOthers(): boolean {
    if (this.hasMetOthers || this.is("goes on after its opening without the others")) return false;
    const until = (this.#openedAt ?? this.now) + this.timing.aloneMs;
    if (this.now >= until) return false;
    this.wakeAfter(until - this.now);
    return true;
  }

  /**
   * Whether a primary that was just opened claims nothing yet: the store may be older than what others know. One that is alone in sync looks
   * for others for a moment only.
   */
  get looksForOthers(): boolean {
    const { configuration, timing } = this;
    if (configuration === undefined || this.hasHeardOthers || this.hasMetOthers) return false;
    const isAlone = configuration.inSync.length === 1;
    const until = (this.#openedAt ?? this.now) + (isAlone ? timing.askMs : timing.aloneMs);
    if (this.now >= until) return false;
    this.wakeAfter(until - this.now);
    return true;
  }

  /** Asks all others whether they are there, and know of nothing later. */
  seekOthers(): void {
    const { configuration, name, now, timing } = this;
    this.wakeAfter(timing.resendMs);
    if (configuration === undefined || now < this.#soughtAt + timing.resendMs) return;
    this.#soughtAt = now;
    const { version } = configuration;
    for (const copy of copiesOf(configuration)) {
      if (copy !== name) this.send(copy, { type: "askEnd", version, isOpen: true });
    }
  }

  /** What another copy of the shard says that it knows, and where its journal ends. */
  hears(from: CopyName, version: number, end?: JournalPosition): void {
    const { configuration } = this;
    const epoch = end?.epoch ?? this.#heard.get(nodeOf(from))?.epoch ?? 0;
    this.#heard.set(nodeOf(from), { version, epoch });
    if (configuration === undefined) return;
    if (version > configuration.version || epoch > configuration.epoch) this.effects.push({ type: "refresh" });
    // Whether it has more than this copy is seen when it is led.
    else if (end !== undefined && version === configuration.version) this.hasHeardOthers = true;
  }

  /** Whether the store, as far as it is known here, lacks what a copy of the shard has followed: it was put back from a backup. */
  get #isBehind(): boolean {
    const { configuration, state } = this;
    if (configuration === undefined || state.acceptedEpoch > configuration.epoch) return true;
    return [...this.#heard.values()].some(
      ({ version, epoch }) => version > configuration.version || epoch > configuration.epoch,
    );
  }

  withhold(node: string): void {
    this.leases.withhold(node, this.options.shard);
  }

  release(node: string): void {
    this.leases.release(node, this.options.shard);
  }

  /** See `NodeLeases.revoke`: it outlives this copy. */
  revoke(copy: CopyName, last: LeadNumber): void {
    this.leases.revoke(this.options.shard, copy, { version: this.configuration?.version ?? 0, last });
  }

  /** Somebody may still answer on account of what this copy has granted. */
  get hasRevocations(): boolean {
    return this.leases.revoking(this.options.shard).size > 0;
  }

  isRevoked(copy: CopyName): boolean {
    return !this.leases.revoking(this.options.shard).has(copy);
  }

  sendRevocations(): void {
    const { configuration, leases, now, options, timing } = this;
    if (configuration === undefined || !this.hasRevocations) return;
    for (const { copy, last } of leases.dueRevocations(options.shard, now)) {
      this.send(copy, { type: "revoke", last, version: configuration.version });
    }
    const isSomebodyThere = [...leases.revoking(options.shard).keys()].some((copy) => {
      return now < leases.heardAt(nodeOf(copy)) + timing.silenceMs;
    });
    this.wakeAfter(isSomebodyThere ? timing.resendMs : AWAY_RESENDS * timing.resendMs);
  }

  get node(): string {
    return nodeOf(this.name);
  }
}
