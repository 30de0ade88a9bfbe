import { ShoalError } from "@shoal/model";
import type { MemoryBudget, MemoryLevel } from "@shoal/runtime";

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

/** Lets writes in as long as the memory budget of the process has room for them. */
export class MemoryAdmission {
  readonly #budget: MemoryBudget | undefined;
  readonly #place: string;

  /** `place` names the shard. Without a budget everything is let in. */
  constructor(budget: MemoryBudget | undefined, place: string) {
    this.#budget = budget;
    this.#place = place;
  }

  /** Why nothing but deletions is let in; undefined while more is. */
  get readOnlyReason(): string | undefined {
    return this.#budget?.level === "exhausted" ? readOnlyText(this.#budget, this.#place) : undefined;
  }

  /** Runs a write that adds objects or vectors. Fails with `overloaded` from 90 % of the budget on. */
  grow<T>({ objects, vectorBytes }: Growth, write: () => Promise<T>): Promise<T> {
    const budget = this.#budget;
    if (budget === undefined) return write();
    const bytes = objects * OBJECT_BYTES + vectorBytes * VECTOR_COPIES;
    const level = budget.levelWith(bytes);
    if (level === "exhausted") return Promise.reject(readOnly(budget, this.#place));
    if (level === "full") return Promise.reject(full(budget, this.#place));
    return budget.runReserved(bytes, write);
  }

  /**
   * Counts what indexing the long values of a commit takes, until the caller calls what is returned. `mayRefuse`: fails with
   * `overloaded` when there is no room.
   */
  hold(bytes: number, mayRefuse: boolean): () => void {
    const budget = this.#budget;
    if (budget === undefined || bytes === 0) return () => {};
    const level = mayRefuse ? budget.levelWith(bytes) : "free";
    if (level !== "free") {
      const needed = `indexing its long values takes up to ${Math.ceil(bytes / MIB)} MiB`;
      throw refusal(budget, level, `${this.#place} has no room for a write, ${needed}: ${usage(budget)}`);
    }
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    void budget.runReserved(bytes, () => released);
    return release;
  }

  /** Runs a write that changes what is there. Fails with `overloaded` from 97 % of the budget on. */
  change<T>(write: () => Promise<T>): Promise<T> {
    const budget = this.#budget;
    if (budget?.levelWith(OBJECT_BYTES) !== "exhausted") return write();
    return Promise.reject(readOnly(budget, this.#place));
  }
}

/** Fails with `overloaded` when the budget of a process has no room for so many shards more. */
export function checkRoomForShards(budget: MemoryBudget, shards: number): void {
  const level = budget.levelWith(shards * SHARD_BYTES);
  if (level !== "free") throw refusal(budget, level, `no class can be made now: ${usage(budget)}`);
}

function full(budget: MemoryBudget, place: string): ShoalError {
  return refusal(budget, "full", `${place} takes no new objects and vectors: ${usage(budget)}`);
}

function readOnly(budget: MemoryBudget, place: string): ShoalError {
  return refusal(budget, "exhausted", readOnlyText(budget, place));
}

function refusal(budget: MemoryBudget, level: Exclude<MemoryLevel, "free">, message: string): ShoalError {
  budget.refusals[level]++;
  return new ShoalError("overloaded", message, { retryAfterSeconds: RETRY_AFTER_SECONDS[level] });
}

function readOnlyText(budget: MemoryBudget, place: string): string {
  return `${place} is read-only but for deletions: ${usage(budget)}`;
}

function usage({ usedBytes, underWayBytes, bytesMax }: MemoryBudget): string {
  const taken = usedBytes + underWayBytes;
  return (
    `${Math.floor(taken / MIB)} of the ${Math.floor(bytesMax / MIB)} MiB of the memory budget (MEMORY_BUDGET_BYTES) are used, ` +
    `${Math.floor((taken / bytesMax) * 100)} %; delete objects or classes, or give it more memory`
  );
}
