import { ShoalError } from "@shoal/model";
import type { MemoryBudget, ShortMemory } from "@shoal/runtime";

/** What an object takes beside its vector: its place in the id table and the graph, its row on the way to the disk. */
const OBJECT_BYTES = 1_024;
/** A vector stands in the index with its codes, and in a row on its way to the disk. */
const VECTOR_COPIES = 2;

/** An empty shard: its store, and an index once it has a vector. */
const SHARD_BYTES = 512 * 1_024;

const RETRY_AFTER_SECONDS = { full: 10, exhausted: 30 } as const;
const MIB = 1024 * 1024;

/** What a write adds for good. */
interface Growth {
  readonly objects: number;
  /** Bytes of vectors. */
  readonly vectorBytes: number;
}

/** A node that has another copy of a shard, and whose memory is short. */
export interface ShortNode {
  readonly node: string;
  readonly memory: ShortMemory;
}

/** Lets writes in as long as the memory budgets have room for them: of the process, and of the nodes that would have to take them, too. */
export class MemoryAdmission {
  readonly #budget: MemoryBudget | undefined;
  readonly #place: string;
  readonly #shortNode: (() => ShortNode | undefined) | undefined;

  /** `place` names the shard. Without a budget everything is let in. `shortNode`: of the other copies in sync, the shortest. */
  constructor(budget: MemoryBudget | undefined, place: string, shortNode?: () => ShortNode | undefined) {
    this.#budget = budget;
    this.#place = place;
    this.#shortNode = shortNode;
  }

  /** Why nothing but deletions is let in; undefined while more is. */
  get readOnlyReason(): string | undefined {
    const budget = this.#budget;
    if (budget?.level === "exhausted") return refusalText(withUnderWay(budget), this.#place);
    const other = this.#shortNode?.();
    return other?.memory.level === "exhausted" ? refusalText(other.memory, this.#place, other.node) : undefined;
  }

  /**
   * Runs a write that adds objects or vectors. Fails with `overloaded` from 90 % of a budget on, with `tooLarge` when it would get
   * there however little else was used.
   */
  grow<T>({ objects, vectorBytes }: Growth, write: () => Promise<T>): Promise<T> {
    const budget = this.#budget;
    const bytes = memoryOf(objects, vectorBytes);
    const own = budget?.shortWith(bytes);
    if (budget !== undefined && own !== undefined && !budget.couldFit(bytes)) {
      return Promise.reject(neverFits(budget, bytes, this.#place, "storing its objects and vectors"));
    }
    if (own !== undefined) return this.#refuse(own);
    const other = this.#shortNode?.();
    if (other !== undefined) return this.#refuse(other.memory, other.node);
    return budget === undefined ? write() : budget.runReserved(bytes, write);
  }

  /**
   * Counts what indexing the long values of a commit takes, until the caller calls what is returned. `mayRefuse`: fails with
   * `overloaded` when there is no room, with `tooLarge` when there never is.
   */
  hold(bytes: number, mayRefuse: boolean): () => void {
    const budget = this.#budget;
    if (budget === undefined || bytes === 0) return () => {};
    const short = mayRefuse ? budget.shortWith(bytes) : undefined;
    if (short !== undefined) {
      if (!budget.couldFit(bytes)) throw neverFits(budget, bytes, this.#place, "indexing its long values");
      const needed = `indexing its long values takes up to ${Math.ceil(bytes / MIB)} MiB`;
      throw refusal(budget, short.level, `${this.#place} has no room for a write, ${needed}: ${memoryUse(short)}`);
    }
    const tell = budget.reserve();
    tell(bytes);
    return () => tell(0);
  }

  /** Runs a write that changes what is there. Fails with `overloaded` from 97 % of a budget on. */
  change<T>(write: () => Promise<T>): Promise<T> {
    const own = this.#budget?.shortWith(OBJECT_BYTES);
    if (own?.level === "exhausted") return this.#refuse(own);
    const other = this.#shortNode?.();
    if (other?.memory.level === "exhausted") return this.#refuse(other.memory, other.node);
    return write();
  }

  #refuse(memory: ShortMemory, node?: string): Promise<never> {
    return Promise.reject(refusal(this.#budget, memory.level, refusalText(memory, this.#place, node)));
  }
}

/**
 * Fails with `overloaded` when the budget of a process has no room for so many shards more, with `invalid` when it never has.
 */
export function checkRoomForShards(budget: MemoryBudget, shards: number): void {
  const bytes = shards * SHARD_BYTES;
  const short = budget.shortWith(bytes);
  if (short !== undefined && !budget.couldFit(bytes)) {
    throw new ShoalError(
      "invalid",
      `${shards} shards take ${mebibytes(bytes)} MiB on this process, and its memory budget of ${mebibytes(budget.bytesMax)} MiB ` +
        "(MEMORY_BUDGET_BYTES) never has that much room: give a smaller shardingConfig.desiredCount, or it more memory",
    );
  }
  if (short !== undefined) throw refusal(budget, short.level, `no class can be made now: ${memoryUse(short)}`);
}

/** What so many objects take at most. `bytes`: of their vectors, or of their rows. */
export function memoryOf(objects: number, bytes: number): number {
  return objects * OBJECT_BYTES + bytes * VECTOR_COPIES;
}

/** How much of a budget is used, and what can be done about it. `node`: of another node that has a copy. */
export function memoryUse({ usedBytes, bytesMax }: Omit<ShortMemory, "level">, node?: string): string {
  const whose = node === undefined ? "" : ` of node '${node}', which has another copy,`;
  return (
    `${Math.floor(usedBytes / MIB)} of the ${Math.floor(bytesMax / MIB)} MiB of the memory budget (MEMORY_BUDGET_BYTES)${whose} are used, ` +
    `${Math.floor((usedBytes / bytesMax) * 100)} %; delete objects or classes, or give it more memory`
  );
}

function refusalText(memory: ShortMemory, place: string, node?: string): string {
  const what = memory.level === "full" ? "takes no new objects and vectors" : "is read-only but for deletions";
  return `${place} ${what}: ${memoryUse(memory, node)}`;
}

function refusal(budget: MemoryBudget | undefined, level: ShortMemory["level"], message: string): ShoalError {
  if (budget !== undefined) budget.refusals[level]++;
  return new ShoalError("overloaded", message, { retryAfterSeconds: RETRY_AFTER_SECONDS[level] });
}

/** Trying again is in vain. */
function neverFits(budget: MemoryBudget, bytes: number, place: string, what: string): ShoalError {
  return new ShoalError(
    "tooLarge",
    `${place} never has room for such a write: ${what} takes up to ${mebibytes(bytes)} MiB of a memory budget of ` +
      `${mebibytes(budget.bytesMax)} MiB (MEMORY_BUDGET_BYTES); send fewer objects at once or shorter values, or give it more memory`,
  );
}

const mebibytes = (bytes: number): number => Math.ceil(bytes / MIB);

function withUnderWay({ usedBytes, underWayBytes, bytesMax }: MemoryBudget): ShortMemory {
  return { level: "exhausted", usedBytes: usedBytes + underWayBytes, bytesMax };
}
