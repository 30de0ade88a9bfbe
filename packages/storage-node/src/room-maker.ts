import { ShoalError } from "@shoal/model";
import type { MemoryBudget } from "@shoal/runtime";
import type { Shard } from "@shoal/shard";

/** Memory of removed vectors that is worth a rebuild while memory is short: this part of the budget, over all shards. */
const WORTH_PART = 0.04;

/** An index of which so much is removed is worth it, however small it is; what goes on being removed is not waited for. */
const REMOVED_PART_MAX = 1 / 3;

/** Removals that do not end are waited for so many looks. */
const QUIET_LOOKS_MAX = 30;

/** A shard that failed, or gave nothing back, is left alone for so many looks: others have a turn. */
const VAIN_LOOKS = 300;

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
 * While memory is short, has vector indexes rebuilt that have much of what was removed: one at a time, the one that gives
 * back most first, when nothing more was removed since the last look, or removals go on for too long.
 */
export class RoomMaker {
  readonly #options: RoomMakerOptions;
  /** Rows that were removed, as of the last look. */
  #rows = 0;
  #looks = 0;
  /** Looks in a row that found more removed than the one before. */
  #restless = 0;
  /** The look from which on a shard may be tried again. */
  readonly #vain = new WeakMap<RoomMakerShard, number>();
  #making: Promise<void> | undefined;

  constructor(options: RoomMakerOptions) {
    this.#options = options;
  }

  /** To be called about once a second. Resolves when what it has begun has ended. */
  async look(): Promise<void> {
    const { budget } = this.#options;
    this.#looks++;
    if (!budget.isShort || this.#making !== undefined) return;
    const { rows, all, largest } = this.#removed();
    this.#restless = rows === this.#rows ? 0 : this.#restless + 1;
    const isQuiet = this.#restless === 0 || this.#restless >= QUIET_LOOKS_MAX;
    this.#rows = rows;
    if (largest === undefined || largest.bytes < WORTH_BYTES_MIN) return;
    const isMuch = largest.part >= REMOVED_PART_MAX;
    if (!isMuch && !(isQuiet && all >= budget.bytesMax * WORTH_PART)) return;
    // What stops searches is done only to have writes refused no more, not before they are.
    this.#making = this.#make(largest.shard, budget.wouldFall(all));
    await this.#making;
  }

  async #make(shard: RoomMakerShard, mayReload: boolean): Promise<void> {
    const { budget, onFailed } = this.#options;
    const before = deadRowsOf(shard);
    try {
      await shard.makeRoom({ hasRoom: (bytes) => budget.hasRoom(bytes), mayReload });
      // More may have been removed meanwhile.
      if (deadRowsOf(shard) < before) budget.freed();
      else this.#vain.set(shard, this.#looks + VAIN_LOOKS);
    } catch (thrown) {
      this.#vain.set(shard, this.#looks + VAIN_LOOKS);
      onFailed(shard, ShoalError.from(thrown));
    } finally {
      this.#restless = 0;
      this.#making = undefined;
    }
  }

  /** Removed vectors of all shards and their bytes, and the shard that has most, of those that may be tried. */
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
      if ((this.#vain.get(shard) ?? 0) > this.#looks) continue;
      if (largest === undefined || bytes > largest.bytes) largest = { shard, bytes, part };
    }
    return { rows, all, largest };
  }
}

function deadRowsOf(shard: RoomMakerShard): number {
  return shard.statistics().vectors?.deadRows ?? 0;
}
