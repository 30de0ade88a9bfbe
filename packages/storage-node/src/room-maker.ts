import type { MemoryBudget } from "@shoal/fair-share";
import { ShoalError } from "@shoal/model";
import type { Shard } from "@shoal/shard";

/** Memory of removed vectors that is worth a rebuild while memory is short: this part of the budget, over all shards. */
const WORTH_PART = 0.04;

/** An index of which so much is removed is worth it, however small it is; what goes on being removed is not waited for. */
const REMOVED_PART_MAX = 1 / 3;

/** Fewer bytes are not worth the linking. */
const WORTH_BYTES_MIN = 256 * 1024;

export type RoomMakerShard = Pick<Shard, "makeRoom" | "statistics" | "className" | "shardName">;

export interface RoomMakerOptions {
  readonly budget: MemoryBudget;
  /** Those that are open, as of now. */
  readonly shards: () => Iterable<RoomMakerShard>;
  readonly onFailed: (shard: RoomMakerShard, error: ShoalError) => void;
}

/**
 * While memory is short, has vector indexes built anew that have much of what was removed: one at a time, the one that gives
 * back most first, when nothing more was removed since the last look.
 */
export class RoomMaker {
  readonly #options: RoomMakerOptions;
  /** Rows that were removed, as of the last look. */
  #rows = 0;
  #making: Promise<void> | undefined;

  constructor(options: RoomMakerOptions) {
    this.#options = options;
  }

  /** To be called about once a second. Resolves when what it has begun has ended. */
  async look(): Promise<void> {
    const { budget } = this.#options;
    if (!budget.isShort || this.#making !== undefined) return;
    const { rows, all, largest } = this.#removed();
    const isQuiet = rows === this.#rows;
    this.#rows = rows;
    if (largest === undefined || largest.bytes < WORTH_BYTES_MIN) return;
    const isMuch = largest.part >= REMOVED_PART_MAX;
    if (!isMuch && !(isQuiet && all >= budget.bytesMax * WORTH_PART)) return;
    this.#making = this.#make(largest.shard);
    await this.#making;
  }

  async #make(shard: RoomMakerShard): Promise<void> {
    const { budget, onFailed } = this.#options;
    try {
      await shard.makeRoom((bytes) => budget.hasRoom(bytes));
    } catch (thrown) {
      onFailed(shard, ShoalError.from(thrown));
    } finally {
      this.#making = undefined;
      budget.freed();
    }
  }

  /** Removed vectors of all shards and their bytes, and the shard that has most. */
  #removed() {
    let rows = 0;
    let all = 0;
    let largest: { readonly shard: RoomMakerShard; readonly bytes: number; readonly part: number } | undefined;
    for (const shard of this.#options.shards()) {
      const { vectors } = shard.statistics();
      if (vectors === undefined || vectors.deadRows === 0) continue;
      const part = vectors.deadRows / (vectors.deadRows + vectors.count);
      const bytes = vectors.memoryBytes * part;
      rows += vectors.deadRows;
      all += bytes;
      if (largest === undefined || bytes > largest.bytes) largest = { shard, bytes, part };
    }
    return { rows, all, largest };
  }
}
