import { type CopyMessage, type CopyName, nodeOf, type ShardConfiguration } from "@shoal/replication";
import { type ShardAddress, shardPlaceOf } from "@shoal/rpc";
import type { MemoryBudget, ShortMemory } from "@shoal/runtime";
import { memoryOf, memoryUse, type ShortNode } from "@shoal/shard";
import { bytesOf } from "./full-copy.js";

/** A copy that was held back does not ask for rows for so many leases, twice as long each time: it may have to get all of them anew. */
const HELD_LEASES = 15;
const HELD_LEASES_MAX = 480;

/** A copy that is not in sync takes no more for now: memory is used up. */
export interface HeldEvent {
  readonly type: "catchUpHeld";
  readonly shard: ShardAddress;
  readonly reason: string;
}

/** A copy on this node. */
interface Replica {
  readonly address: ShardAddress;
  readonly name: CopyName | undefined;
  readonly configuration: ShardConfiguration | undefined;
  readonly isPrimary: boolean;
}

interface Held {
  /** Undefined: there was room again. */
  reason: string | undefined;
  /** What did not fit. */
  bytes: number;
  leases: number;
  untilMs: number;
}

/**
 * What the memory budgets of the nodes mean for copies of shards. A copy in sync cannot refuse what its primary sends: so nodes tell each
 * other when their memory is short, and the primary does not let it in. A copy that is not in sync decides by itself.
 */
export class NodeMemory {
  readonly #now: () => number;
  readonly #leaseMs: number;
  readonly #onEvent: (event: HeldEvent) => void;
  #budget: MemoryBudget | undefined;
  #sent: ShortMemory | undefined;
  /** Other nodes that say that theirs is short. */
  readonly #short = new Map<string, ShortMemory>();
  /** Copies that were not in sync when they had to take what did not fit. */
  readonly #held = new WeakMap<Replica, Held>();

  constructor(now: () => number, leaseMs: number, onEvent: (event: HeldEvent) => void) {
    this.#now = now;
    this.#leaseMs = leaseMs;
    this.#onEvent = onEvent;
  }

  /** Until then everything fits. */
  boundBy(budget: MemoryBudget): void {
    this.#budget = budget;
  }

  /** What the others are to know of this node. */
  get sent(): ShortMemory | undefined {
    return this.#sent;
  }

  /** Measures; true: the others are to know now. */
  look(): boolean {
    const { level } = this.#sent ?? {};
    this.#sent = this.#budget?.shortWith(0);
    return this.#sent?.level !== level;
  }

  /** Another node says how short its memory is, or that it is not. */
  heard(node: string, memory: ShortMemory | undefined): void {
    if (memory === undefined) this.#short.delete(node);
    else this.#short.set(node, memory);
  }

  /** Of a primary: the node of another copy in sync whose memory is shortest. */
  shortNode({ configuration, isPrimary }: Replica): ShortNode | undefined {
    if (this.#short.size === 0 || configuration === undefined || !isPrimary) return undefined;
    let shortest: ShortNode | undefined;
    for (const node of configuration.inSync.map(nodeOf)) {
      const memory = this.#short.get(node);
      if (memory === undefined) continue;
      if (shortest === undefined || memory.level === "exhausted") shortest = { node, memory };
    }
    return shortest;
  }

  /** Whether it would not be used up with `bytes` more. */
  hasRoom(bytes: number): boolean {
    return this.#budget?.shortWith(bytes)?.level !== "exhausted";
  }

  /**
   * False: what the primary sends is to be dropped, as if it were lost. A copy that is not in sync takes nothing with which memory would be
   * used up, but always what only deletes.
   */
  takes(replica: Replica, message: CopyMessage): boolean {
    if (!isLearner(replica)) return true;
    const bytes = growthOf(message);
    const held = this.#held.get(replica);
    const short = bytes === 0 ? undefined : this.#budget?.shortWith(bytes);
    if (short?.level !== "exhausted") {
      if (bytes > 0 && held !== undefined) held.reason = undefined;
      return true;
    }
    if (held?.reason === undefined) this.#hold(replica, bytes, short);
    return false;
  }

  #hold(replica: Replica, bytes: number, short: ShortMemory): void {
    const before = this.#held.get(replica)?.leases ?? HELD_LEASES / 2;
    const leases = Math.min(2 * before, HELD_LEASES_MAX);
    const reason = `${shardPlaceOf(replica.address)}: its copy does not catch up: ${memoryUse(short)}`;
    this.#held.set(replica, { reason, bytes, leases, untilMs: this.#now() + leases * this.#leaseMs });
    this.#onEvent({ type: "catchUpHeld", shard: replica.address, reason });
  }

  /** Whether a copy may say that it is there, for which it gets what it lacks. */
  mayAsk(replica: Replica): boolean {
    const held = this.#held.get(replica);
    if (held?.reason === undefined) return true;
    if (isLearner(replica)) {
      if (this.#now() < held.untilMs) return false;
      held.untilMs = this.#now() + held.leases * this.#leaseMs;
      if (!this.hasRoom(held.bytes)) return false;
    }
    held.reason = undefined;
    return true;
  }

  /** Why it does not catch up. */
  heldReason(replica: Replica): string | undefined {
    return isLearner(replica) ? this.#held.get(replica)?.reason : undefined;
  }
}

/** Not in sync, nor eligible: without those nothing can be acknowledged, deletions neither. They lack what was sent last at most. */
function isLearner({ configuration, name }: Replica): boolean {
  if (name === undefined || configuration === undefined) return false;
  return configuration.learners.includes(name) && !configuration.eligible.includes(name);
}

/** What the objects that it brings may take. Those that are deleted make a shard smaller. */
function growthOf(message: CopyMessage): number {
  const changes = message.type === "rows" ? message.rows : message.type === "append" ? message.changes : [];
  const puts = changes.filter(({ row }) => row !== undefined);
  return memoryOf(puts.length, bytesOf(puts));
}
