interface Lane {
  underWay: number;
  readonly waiting: (() => void)[];
}

/**
 * Lets work on disks begin while no more than `ofDisk` are under way on the same disk and `ofAll` on all of them together. What
 * waits begins in the order of the calls; between disks, in turn. A disk is known by its device number (`stat`, `dev`).
 */
export class DiskLanes {
  readonly #lanes = new Map<number, Lane>();
  #underWay = 0;

  constructor(
    readonly ofDisk: number,
    readonly ofAll: number,
  ) {}

  /** Under way on all disks. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Undefined when the work may begin; else that is when this resolves. Each must {@link leave}. */
  enter(disk: number): Promise<void> | undefined {
    let lane = this.#lanes.get(disk);
    if (lane === undefined) {
      lane = { underWay: 0, waiting: [] };
      this.#lanes.set(disk, lane);
    }
    if (lane.underWay < this.ofDisk && this.#underWay < this.ofAll) {
      this.#begin(lane);
      return undefined;
    }
    const { waiting } = lane;
    return new Promise((begin) => waiting.push(begin));
  }

  leave(disk: number): void {
    const left = this.#lanes.get(disk);
    if (left === undefined) throw new RangeError(`nothing is under way on disk ${disk}`);
    left.underWay--;
    this.#underWay--;
    // There is room for one: of the same disk, or of another one that waits because there were too many of all.
    for (const [other, lane] of this.#lanes) {
      if (lane.waiting.length === 0 || lane.underWay >= this.ofDisk) continue;
      this.#begin(lane);
      lane.waiting.shift()?.();
      // Behind the others.
      this.#lanes.delete(other);
      this.#lanes.set(other, lane);
      return;
    }
    if (left.underWay === 0 && left.waiting.length === 0) this.#lanes.delete(disk);
  }

  /** `work` in its turn. */
  async run<Result>(disk: number, work: () => Promise<Result>): Promise<Result> {
    await this.enter(disk);
    try {
      return await work();
    } finally {
      this.leave(disk);
    }
  }

  #begin(lane: Lane): void {
    lane.underWay++;
    this.#underWay++;
  }
}
