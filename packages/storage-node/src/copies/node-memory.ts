import { type Change, type CopyMessage, type CopyName, nodeOf, type ShardConfiguration } from "@shoal/replication";
import { type ShardAddress, shardPlaceOf } from "@shoal/rpc";
import type { MemoryBudget, ShortMemory } from "@shoal/runtime";
import { memoryUse, type ShortNode } from "@shoal/shard";

/** A copy that was held back does not ask for rows for so many leases: it may have to get all of them anew. */
const HELD_LEASES = 15;

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

/**
 * What the memory budgets of the nodes mean for copies of shards. A copy in sync cannot refuse what its primary sends: so nodes tell each
 * other when their memory is short, and the primary does not let it in. A copy that is not in sync decides by itself.
 */
export class NodeMemory {
  readonly #now: () => number;
  readonly #heldMs: number;
  readonly #onEvent: (event: HeldEvent) => void;
  #budget: MemoryBudget | undefined;
  #told: ShortMemory | undefined;
  /** Other nodes that say that theirs is short. */
  readonly #short = new Map<string, ShortMemory>();
  /** Copies that are not in sync and take nothing that grows. */
  readonly #held = new WeakMap<Replica, { readonly reason: string; untilMs: number }>();

  constructor(now: () => number, leaseMs: number, onEvent: (event: HeldEvent) => void) {
    this.#now = now;
    this.#heldMs = HELD_LEASES * leaseMs;
    this.#onEvent = onEvent;
  }

  /** Until then everything fits. */
  boundBy(budget: MemoryBudget): void {
    this.#budget = budget;
  }

  /** What the others are to know of this node. */
  get told(): ShortMemory | undefined {
    return this.#told;
  }

  /** Measures; true: the others are to know now. */
  look(): boolean {
    const { level } = this.#told ?? {};
    this.#told = this.#budget?.shortWith(0);
    return this.#told?.level !== level;
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
   * False: what the primary sends is to be dropped, as if it were lost. A copy that is not in sync takes nothing that grows while memory is used
   * up. What has come is in memory already, and counts.
   */
  takes(replica: Replica, message: CopyMessage): boolean {
    if (!isLearner(replica) || !brings(message)) return true;
    if (this.hasRoom(0)) {
      this.#held.delete(replica);
      return true;
    }
    if (this.#held.has(replica)) return false;
    const { usedBytes, bytesMax } = this.#budget as MemoryBudget;
    const reason = `${shardPlaceOf(replica.address)}: its copy does not catch up: ${memoryUse({ usedBytes, bytesMax })}`;
    this.#held.set(replica, { reason, untilMs: this.#now() + this.#heldMs });
    this.#onEvent({ type: "catchUpHeld", shard: replica.address, reason });
    return false;
  }

  /** Whether a copy may say that it is there, for which it gets what it lacks. */
  mayAsk(replica: Replica): boolean {
    const held = this.#held.get(replica);
    if (held === undefined) return true;
    if (isLearner(replica)) {
      if (this.#now() < held.untilMs) return false;
      held.untilMs = this.#now() + this.#heldMs;
      if (!this.hasRoom(0)) return false;
    }
    this.#held.delete(replica);
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

/** Whether it brings objects, or vectors. Rows of deleted objects make a shard smaller. */
function brings(message: CopyMessage): boolean {
  if (message.type === "rows") return message.rows.some(isPut);
  return message.type === "append" && message.changes.some(isPut);
}

function isPut({ row }: Change): boolean {
  return row !== undefined;
}
