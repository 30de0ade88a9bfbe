/** How much of a memory budget is left: `full` has no room for growth, `exhausted` for deletions alone. */
export type MemoryLevel = "free" | "full" | "exhausted";

/** A budget that has no room for growth, or for deletions alone. */
export interface ShortMemory {
  readonly level: Exclude<MemoryLevel, "free">;
  /** With what accepted work may still take. */
  readonly usedBytes: number;
  readonly bytesMax: number;
}

/** The levels by their order. */
const LEVELS = ["free", "full", "exhausted"] as const;

/** From this part of the budget on a level holds. */
const BEGINS_AT: Readonly<Record<MemoryLevel, number>> = { free: 0, full: 0.9, exhausted: 0.97 };

/** Below this part it ends: not at once, so that it does not come and go with every request. */
const ENDS_BELOW: Readonly<Record<MemoryLevel, number>> = { free: 0, full: 0.85, exhausted: 0.93 };

/** What is kept without being used is given back before a level rises; until that has ended, so much is waited for at most. */
const WAITS_UP_TO = 0.95;

/** Use is measured again after so long, and after so many bytes of work that came since. */
const SAMPLE_MS = 50;
const SAMPLE_BYTES = 1024 * 1024;

/** Between two attempts to give memory back: the first, and twice as long after each that was in vain, up to the last. */
const RECLAIM_PAUSE_MS = 1_000;
const RECLAIM_PAUSE_MS_MAX = 80_000;
/** Nor sooner than so many times what the last attempt took of the event loop, however much it gave back. */
const RECLAIM_PAUSE_FACTOR = 50;
/** An attempt that frees less than this part of the budget was in vain. */
const RECLAIM_WORTH = 0.01;

export interface MemoryBudgetOptions {
  readonly bytesMax: number;
  /** What is used right now, whatever it is used for, also what could be given back. Some microseconds. */
  readonly usedBytes: () => number;
  /**
   * Gives back what is kept though nothing uses it (freed memory, garbage); resolves when that has ended, with the milliseconds
   * that it took of the event loop.
   */
  readonly reclaim: () => Promise<number>;
  /** Milliseconds; never goes back. */
  readonly nowMs: () => number;
  /** After each change of the level. */
  readonly onLevel?: (level: MemoryLevel, usedBytes: number) => void;
}

/**
 * The memory of a process against what it may use. One measured figure counts, not the sum of what its parts know of
 * themselves: what is counted nowhere ends a process, too. Beside it stands what accepted work has still to take. Levels rise
 * at 90 % and 97 %, after an attempt to give back what nothing uses, and fall by themselves 5 and 4 % below that.
 */
export class MemoryBudget {
  readonly bytesMax: number;
  readonly #options: MemoryBudgetOptions;
  #level: MemoryLevel = "free";
  #used = 0;
  #leastUsed = Number.POSITIVE_INFINITY;
  #sampledMs = Number.NEGATIVE_INFINITY;
  #sinceSample = 0;
  #underWay = 0;
  #reclaiming: Promise<void> | undefined;
  #reclaimedMs = Number.NEGATIVE_INFINITY;
  #pauseMs = RECLAIM_PAUSE_MS;

  constructor(options: MemoryBudgetOptions) {
    this.bytesMax = options.bytesMax;
    this.#options = options;
  }

  /** Work that was refused at a level, so often. */
  readonly refusals = { full: 0, exhausted: 0 };

  /** As of the last measurement. */
  get level(): MemoryLevel {
    return this.#level;
  }

  /** As of the last measurement. */
  get usedBytes(): number {
    return this.#used;
  }

  /** Whether it is worth looking for what could be freed: so much is used that a level which began would not end. */
  get isShort(): boolean {
    return this.#used >= this.bytesMax * ENDS_BELOW.full;
  }

  /** What accepted work may still take. */
  get underWayBytes(): number {
    return this.#underWay;
  }

  /** Measures, and follows with the level. To be called from time to time, so that it falls while nobody asks. */
  look(): MemoryLevel {
    this.#used = this.#options.usedBytes();
    this.#leastUsed = Math.min(this.#leastUsed, this.#used);
    this.#sampledMs = this.#options.nowMs();
    this.#sinceSample = 0;
    const next = levelAt(this.#used / this.bytesMax, this.#level);
    if (next !== "free") this.#reclaimWhenDue();
    this.#follow(next);
    return this.#level;
  }

  /** The level with `bytes` more: what work that takes so much has to go by. Measures when that was long ago. */
  levelWith(bytes: number): MemoryLevel {
    this.#sinceSample += bytes;
    const isOld = this.#options.nowMs() - this.#sampledMs >= SAMPLE_MS || this.#sinceSample >= SAMPLE_BYTES;
    if (isOld) this.look();
    const withIt = levelAt((this.#used + this.#underWay + bytes) / this.bytesMax, this.#level);
    if (withIt !== "free") this.#reclaimWhenDue();
    return rank(withIt) > rank(this.#level) ? withIt : this.#level;
  }

  /** How short it is with `bytes` more; undefined when it is not. As `levelWith`. */
  shortWith(bytes: number): ShortMemory | undefined {
    const level = this.levelWith(bytes);
    if (level === "free") return undefined;
    return { level, usedBytes: this.#used + this.#underWay, bytesMax: this.bytesMax };
  }

  /** Whether there would have been room for `bytes` more when least was used: else there never is, however long one waits. */
  couldFit(bytes: number): boolean {
    if (this.#leastUsed === Number.POSITIVE_INFINITY) this.look();
    // Data that was there from the start can be deleted: that takes no less than half of the budget from anybody for good.
    return Math.min(this.#leastUsed, this.bytesMax / 2) + bytes < this.bytesMax * BEGINS_AT.full;
  }

  /** Whether `bytes` more would stay within the budget: for work that frees more in the end. */
  hasRoom(bytes: number): boolean {
    this.look();
    return this.#used + this.#underWay + bytes <= this.bytesMax;
  }

  /** Whether the level would be a lower one with so many bytes less. */
  wouldFall(bytes: number): boolean {
    return rank(levelAt((this.#used - bytes) / this.bytesMax, this.#level)) < rank(this.#level);
  }

  /** Counts `bytes` that are going to be used until `work` has ended, as it did when it ends. */
  async runReserved<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    const tell = this.reserve();
    tell(bytes);
    try {
      return await work();
    } finally {
      tell(0);
    }
  }

  /** For work that takes memory bit by bit: it tells how much it is still going to use, and 0 in the end. */
  reserve(): (bytes: number) => void {
    let told = 0;
    return (bytes) => {
      this.#underWay += bytes - told;
      told = bytes;
    };
  }

  /** Much was freed: what is kept of it is given back at the next look. */
  freed(): void {
    this.#pauseMs = RECLAIM_PAUSE_MS;
    this.#reclaimedMs = Number.NEGATIVE_INFINITY;
  }

  #follow(next: MemoryLevel): void {
    const isRise = rank(next) > rank(this.#level);
    // What is in use in truth is known when the attempt has ended.
    if (isRise && this.#reclaiming !== undefined && this.#used < this.bytesMax * WAITS_UP_TO) return;
    if (next === this.#level) return;
    this.#level = next;
    this.#options.onLevel?.(next, this.#used);
  }

  #reclaimWhenDue(): void {
    const now = this.#options.nowMs();
    if (this.#reclaiming !== undefined || now - this.#reclaimedMs < this.#pauseMs) return;
    const before = this.#used;
    // It is tried again, whatever kept it from working.
    const attempt = this.#options.reclaim().catch(() => 0);
    this.#reclaiming = attempt.then((tookMs) => {
      this.#reclaiming = undefined;
      this.#reclaimedMs = this.#options.nowMs();
      const isWorth = before - this.#options.usedBytes() >= this.bytesMax * RECLAIM_WORTH;
      const pauseMs = isWorth ? RECLAIM_PAUSE_MS : this.#pauseMs * 2;
      this.#pauseMs = Math.min(Math.max(pauseMs, tookMs * RECLAIM_PAUSE_FACTOR), RECLAIM_PAUSE_MS_MAX);
      this.look();
    });
  }
}

function rank(level: MemoryLevel): number {
  return LEVELS.indexOf(level);
}

/** The level that `part` of a budget means for one who is at `level`. */
function levelAt(part: number, level: MemoryLevel): MemoryLevel {
  let at: MemoryLevel = "free";
  for (const one of LEVELS) if (part >= (rank(one) <= rank(level) ? ENDS_BELOW[one] : BEGINS_AT[one])) at = one;
  return at;
}
