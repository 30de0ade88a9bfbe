import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { ShoalError } from "@shoal/model";
import { proposalFault, type ShardConfiguration } from "@shoal/replication";
import {
  type CopiesSnapshot,
  type CopyDecision,
  type CopyProposal,
  type CopyService,
  type EntriesSnapshot,
  initialConfigurations,
  type KnownConfiguration,
  type ShardKey,
} from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { Ledger, LedgerChange } from "./ledger.js";
import { entriesUnder, type MetaState } from "./meta-store.js";
import { COPIES_PREFIX, isLost, putConfiguration } from "./shard-configurations.js";
import { dropOf } from "./stored-drops.js";
import { StoredEntries } from "./stored-entries.js";
import { isSameSchema, otherChanges, readSchema } from "./stored-schema.js";

/** Etcd takes 127 changes and 1.5 MB at once. */
const CHANGES_MAX = 100;
const BYTES_MAX = 1_000_000;
/**
 * Between a commit and one that is not full: each costs everybody who follows the configurations time for every shard that there is. When
 * thousands of shards begin, what they propose comes a few at a time.
 */
const PAUSE_MS = 20;

/** For what several callers share: the store has a limit of its own. */
const SHARED: RequestContext = { deadline: Number.POSITIVE_INFINITY };

/** A proposal that waits for a commit. */
interface WaitingProposal {
  readonly node: string;
  readonly proposal: CopyProposal;
  readonly context: RequestContext;
  readonly decided: (decision: CopyDecision) => void;
  readonly failed: (error: ShoalError) => void;
}

/** The shards of one version of the schema. */
interface PlacedShards {
  readonly state: MetaState;
  /** The first configurations of those with copies, by class id and shard. */
  readonly initial: ReadonlyMap<string, ReadonlyMap<string, ShardConfiguration>>;
}

/** Who holds the shards that have copies. A snapshot's version is a revision of the store. */
export class StoredCopies implements CopyService, Disposable {
  readonly #ledger: Ledger;
  readonly #stored: StoredEntries;
  readonly #subscription: Disposable;
  /** By the node that proposes, which take turns: one with thousands of shards does not hold up the others. */
  readonly #waiting = new Map<string, WaitingProposal[]>();
  #isCommitting = false;
  #placed: PlacedShards;
  /** Configurations may be stored whose class is gone. */
  #mayBeLeft = true;
  #isRemoving = false;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
    this.#stored = new StoredEntries(ledger, { prefix: COPIES_PREFIX });
    this.#placed = readPlaced(ledger.historyId, ledger.state);
    this.#subscription = ledger.onState((state) => this.#follow(state));
    void this.#removeLeft();
  }

  async current(context: RequestContext): Promise<CopiesSnapshot> {
    return snapshotOf(await this.#stored.current(context));
  }

  watch(listener: (snapshot: CopiesSnapshot) => void): Disposable {
    return this.#stored.watch((entries) => listener(snapshotOf(entries)));
  }

  propose(node: string, proposals: readonly CopyProposal[], context: RequestContext): Promise<readonly CopyDecision[]> {
    const queue = this.#waiting.get(node) ?? [];
    const decisions = proposals.map(
      (proposal) =>
        new Promise<CopyDecision>((decided, failed) => {
          queue.push({ node, proposal, context, decided, failed });
        }),
    );
    if (queue.length > 0) this.#waiting.set(node, queue);
    void this.#commitWaiting();
    return Promise.all(decisions);
  }

  async restore(configurations: readonly KnownConfiguration[], context: RequestContext): Promise<void> {
    for (let at = 0; at < configurations.length; at += CHANGES_MAX) {
      const portion = configurations.slice(at, at + CHANGES_MAX);
      await this.#ledger.change(context, (state) => {
        const later = portion.filter(([shard, { version }]) => {
          const current = this.#configurationIn(state, shard);
          // Where it is lost, that is the first one: every stored one is later.
          return current !== undefined && version > current.version;
        });
        const changes = later.map(([shard, configuration]) => putConfiguration(shard, configuration));
        return { changes: changes.length === 0 ? [] : otherChanges(state, changes), result: undefined };
      });
    }
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
    this.#stored[Symbol.dispose]();
  }

  /** What comes while a commit is under way shares the next one. */
  async #commitWaiting(): Promise<void> {
    if (this.#isCommitting) return;
    this.#isCommitting = true;
    while (this.#waiting.size > 0) {
      await this.#commit(this.#nextInLine());
      if (!this.#isFull) await sleep(PAUSE_MS);
    }
    this.#isCommitting = false;
  }

  /** Whether as many wait as fit in a commit. */
  get #isFull(): boolean {
    let count = 0;
    for (const queue of this.#waiting.values()) count += queue.length;
    return count >= CHANGES_MAX;
  }

  /** One proposal of each node in turn, as many as fit in a commit. */
  #nextInLine(): readonly WaitingProposal[] {
    const batch: WaitingProposal[] = [];
    let bytes = 0;
    for (const [node, queue] of this.#waiting) {
      const [next] = queue;
      if (next === undefined || batch.length === CHANGES_MAX) break;
      bytes += bytesOf(next.proposal);
      if (bytes > BYTES_MAX && batch.length > 0) break;
      batch.push(next);
      queue.shift();
      // At the end again: this loop comes to it once more.
      this.#waiting.delete(node);
      if (queue.length > 0) this.#waiting.set(node, queue);
    }
    return batch;
  }

  async #commit(batch: readonly WaitingProposal[]): Promise<void> {
    const inTime = batch.filter((one) => !this.#isOver(one));
    if (inTime.length === 0) return;
    try {
      const decisions = await this.#ledger.change(SHARED, (state) => this.#decide(inTime, state));
      for (const [at, { decided }] of inTime.entries()) decided(decisions[at] as CopyDecision);
    } catch (thrown) {
      const error = ShoalError.from(thrown);
      for (const { failed } of inTime) failed(error);
      if (error.code !== "unavailable") return;
      // Who waited while the store could not be reached does not wait for it once more.
      for (const { failed } of [...this.#waiting.values()].flat()) failed(error);
      this.#waiting.clear();
    }
  }

  #isOver({ context: { deadline, signal }, failed }: WaitingProposal): boolean {
    const isOver = signal?.aborted === true || this.#ledger.nowMs() >= deadline;
    if (isOver) {
      failed(new ShoalError("deadlineExceeded", "a proposal was not decided: its time ran out while it waited"));
    }
    return isOver;
  }

  #decide(batch: readonly WaitingProposal[], state: MetaState): LedgerChange<readonly CopyDecision[]> {
    const changed = new Map<ShardKey, ShardConfiguration>();
    const result = batch.map(({ node, proposal: { shard, next } }): CopyDecision => {
      const current = changed.get(shard) ?? this.#configurationIn(state, shard);
      // One that was made comes again when its response was lost.
      if (current === undefined || isDeepStrictEqual(current, next)) {
        return { shard, isAccepted: current !== undefined, current };
      }
      const isRefused = proposalFault(current, next, node) !== undefined || isLost(state, ...namesOf(shard));
      if (isRefused) return { shard, isAccepted: false, current };
      changed.set(shard, next);
      return { shard, isAccepted: true, current: next };
    });
    const changes = Array.from(changed, ([shard, configuration]) => putConfiguration(shard, configuration));
    return { changes: changes.length === 0 ? [] : otherChanges(state, changes), result };
  }

  /** Undefined: there is no such shard with copies. */
  #configurationIn(state: MetaState, shard: ShardKey): ShardConfiguration | undefined {
    const [classId, shardName] = namesOf(shard);
    const initial = this.#placedIn(state).initial.get(classId)?.get(shardName);
    return initial && ((state.entries.get(COPIES_PREFIX + shard) as ShardConfiguration | undefined) ?? initial);
  }

  #placedIn(state: MetaState): PlacedShards {
    if (!isSameSchema(state, this.#placed.state)) {
      this.#placed = readPlaced(this.#ledger.historyId, state);
      this.#mayBeLeft = true;
    }
    return this.#placed;
  }

  #follow(state: MetaState): void {
    this.#placedIn(state);
    void this.#removeLeft();
  }

  /** Takes out what is left of classes whose drop has ended, in portions. What fails is done after the next change of the store. */
  async #removeLeft(): Promise<void> {
    if (!this.#mayBeLeft || this.#isRemoving) return;
    this.#isRemoving = true;
    try {
      while (this.#leftIn(this.#ledger.state).length > 0) {
        await this.#ledger.change(SHARED, (state) => {
          const keys = this.#leftIn(state).slice(0, CHANGES_MAX);
          const changes = keys.map((key) => ({ key, value: undefined }));
          return { changes: changes.length === 0 ? [] : otherChanges(state, changes), result: undefined };
        });
      }
    } catch {
      // The store cannot be reached.
    }
    this.#isRemoving = false;
  }

  /** The keys of configurations whose class is gone, and its drop over. */
  #leftIn(state: MetaState): readonly string[] {
    const { initial } = this.#placedIn(state);
    const left: string[] = [];
    let isDropping = false;
    for (const [shard] of entriesUnder(COPIES_PREFIX, state)) {
      const [classId] = namesOf(shard);
      if (initial.has(classId)) continue;
      if (dropOf(state, classId) === undefined) left.push(COPIES_PREFIX + shard);
      else isDropping = true;
    }
    this.#mayBeLeft = isDropping || left.length > 0;
    return left;
  }
}

/** Each is one object, however many watch. */
const snapshots = new WeakMap<EntriesSnapshot, CopiesSnapshot>();

function snapshotOf(stored: EntriesSnapshot): CopiesSnapshot {
  const known = snapshots.get(stored);
  if (known !== undefined) return known;
  const { historyId, version, entries } = stored;
  const configurations = entries as unknown as ReadonlyMap<ShardKey, ShardConfiguration>;
  const snapshot = { historyId, version, configurations };
  snapshots.set(stored, snapshot);
  return snapshot;
}

function readPlaced(storeId: string, state: MetaState): PlacedShards {
  const { classes } = readSchema(storeId, state).snapshot;
  const initial = new Map(classes.map(({ classId, sharding }) => [classId, initialConfigurations(sharding)]));
  return { state, initial };
}

function namesOf(shard: ShardKey): readonly [classId: string, shardName: string] {
  const at = shard.indexOf("/");
  return [shard.slice(0, at), shard.slice(at + 1)];
}

function bytesOf({ shard, next }: CopyProposal): number {
  return Buffer.byteLength(shard) + Buffer.byteLength(JSON.stringify(next));
}
