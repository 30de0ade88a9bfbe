import { ShoalError } from "@shoal/model";
import type { MemoryBudget } from "@shoal/runtime";
import type { VectorIndex } from "@shoal/vector-index";
import { memoryOf, memoryUse } from "./memory-admission.js";

/** Vectors beyond those that may stay in memory leave it when they are so many bytes. */
const BEYOND_BYTES_MAX = 64 * 1024 * 1024;
/** What a step of a rebuild takes at most. */
const STEP_BYTES = 4 * 1024 * 1024;
const RETRY_AFTER_SECONDS = 10;

export interface RebuildRoomOptions {
  /** Absent: there is room for everything. */
  readonly budget: MemoryBudget | undefined;
  /** Names the shard. */
  readonly place: string;
  /** Where the index has its snapshots: what it holds leaves memory by one. */
  readonly path: string;
  /** Vectors that may stay in memory. */
  readonly vectorsKept: number;
}

/**
 * Memory for a vector index that is built from the rows of its shard. What it will take is counted against the budget before it
 * does, so that nobody else gets it; and vectors leave memory for the file of a snapshot, those beyond what is kept, and all when the
 * budget is used up. Nobody believes such a snapshot: until the index is whole, its sequence is 0.
 */
export class RebuildRoom {
  readonly #options: RebuildRoomOptions;

  constructor(options: RebuildRoomOptions) {
    this.#options = options;
  }

  /**
   * Runs a rebuild of so many objects at most; it calls `pace` before it takes a few more. `pace` fails with `unavailable` when
   * there is no room for those, whatever leaves memory.
   */
  async run<T>(index: VectorIndex, objects: number, rebuild: (pace: () => Promise<void>) => Promise<T>): Promise<T> {
    const { budget, vectorsKept } = this.#options;
    const vectorBytes = Math.min(objects, vectorsKept) * index.dimensions * Float32Array.BYTES_PER_ELEMENT;
    const expected = memoryOf(objects, vectorBytes);
    const tell = budget?.reserve() ?? (() => undefined);
    tell(expected);
    let taken = -1;
    try {
      return await rebuild(async () => {
        const { count } = index.statistics();
        if (count === taken) return;
        taken = count;
        // What it has taken is measured.
        tell(Math.floor(expected * Math.max(0, 1 - count / Math.max(1, objects))));
        await this.#makeRoom(index);
      });
    } finally {
      tell(0);
    }
  }

  async #makeRoom(index: VectorIndex): Promise<void> {
    const { budget, place, vectorsKept } = this.#options;
    const beyond = index.statistics().resident - vectorsKept;
    if (beyond * index.dimensions * Float32Array.BYTES_PER_ELEMENT > BEYOND_BYTES_MAX)
      await this.#toFile(index, vectorsKept);
    if (budget === undefined || fits(budget)) return;
    await this.#toFile(index, 0);
    if (fits(budget)) return;
    const message = `${place} has no room to build its vector index from the rows: ${memoryUse(budget)}`;
    throw new ShoalError("unavailable", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  async #toFile(index: VectorIndex, vectorsKept: number): Promise<void> {
    await index.linked();
    await index.snapshot(this.#options.path, vectorsKept);
  }
}

function fits(budget: MemoryBudget): boolean {
  budget.look();
  return budget.usedBytes + STEP_BYTES <= budget.bytesMax;
}
