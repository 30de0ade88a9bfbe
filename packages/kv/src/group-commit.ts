import { ShoalError } from "@shoal/model";
import { eventLoop } from "@shoal/runtime";

/** Writes that wait for the one under way: no more of them, and no more bytes, than this. */
export interface GroupLimits {
  readonly waitingWritesMax: number;
  readonly waitingBytesMax: number;
}

const LIMITS: GroupLimits = { waitingWritesMax: 10_000, waitingBytesMax: 64 << 20 };

/** Where groups go: `Batch` collects changes, `commit` writes them as one. */
export interface GroupTarget<Batch> {
  startBatch(): Batch;
  commit(batch: Batch, sync: boolean, bytes: number): Promise<void>;
}

/** Puts changes into a batch: at once, or the rest of them in steps, between which it yields. */
export type AddChanges<Batch> = (batch: Batch) => Iterable<void> | undefined;

interface Group<Batch> {
  readonly batch: Batch;
  readonly callers: { readonly resolve: () => void; readonly reject: (reason: unknown) => void }[];
  sync: boolean;
  bytes: number;
  /** What is put into the batch before the commit begins: what takes several steps, and all that came behind it. */
  readonly later: AddChanges<Batch>[];
}

/**
 * One commit at a time. Writes that come while it runs are collected, in the order of the calls, in one batch, which is
 * committed next: they share one sync and one result.
 */
export class GroupCommit<Batch> {
  #running = false;
  #waiting: Group<Batch> | undefined;
  #idle: (() => void)[] = [];

  readonly #target: GroupTarget<Batch>;
  readonly #limits: GroupLimits;

  constructor(target: GroupTarget<Batch>, limits = LIMITS) {
    this.#target = target;
    this.#limits = limits;
  }

  /** Whether a commit is under way or waits. */
  get isBusy(): boolean {
    return this.#running || this.#waiting !== undefined;
  }

  /** `bytes` is the size of what `add` puts into a batch. Fails with `overloaded` over the limits. */
  write(add: AddChanges<Batch>, bytes: number, sync: boolean): Promise<void> {
    const group = this.#groupFor(bytes);
    const rest = group.later.length > 0 ? undefined : add(group.batch);
    if (group.later.length > 0) group.later.push(add);
    else if (rest !== undefined) group.later.push(() => rest);
    group.bytes += bytes;
    group.sync ||= sync;
    const result = new Promise<void>((resolve, reject) => group.callers.push({ resolve, reject }));
    if (!this.#running) void this.#run();
    return result;
  }

  /** Resolves when everything that was handed over has its result. */
  async drained(): Promise<void> {
    if (!this.isBusy) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #groupFor(bytes: number): Group<Batch> {
    const { waitingBytesMax, waitingWritesMax } = this.#limits;
    const waiting = this.#waiting;
    if (waiting !== undefined && waiting.callers.length > 0) {
      if (waiting.callers.length >= waitingWritesMax || waiting.bytes + bytes > waitingBytesMax) {
        throw new ShoalError(
          "overloaded",
          `${waiting.callers.length} writes of ${waiting.bytes} bytes wait for the disk already, ` +
            `at most ${waitingWritesMax} of ${waitingBytesMax} bytes may`,
          { retryAfterSeconds: 1 },
        );
      }
    }
    this.#waiting ??= { batch: this.#target.startBatch(), callers: [], sync: false, bytes: 0, later: [] };
    return this.#waiting;
  }

  async #run(): Promise<void> {
    this.#running = true;
    // The writes of the rest of this iteration of the event loop come along.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting !== undefined) {
      const group = this.#waiting;
      this.#waiting = undefined;
      try {
        if (group.later.length > 0) await fill(group);
        await this.#target.commit(group.batch, group.sync, group.bytes);
        for (const caller of group.callers) caller.resolve();
      } catch (error) {
        for (const caller of group.callers) caller.reject(error);
      }
    }
    this.#running = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}

/** What comes meanwhile goes into the next group. */
async function fill<Batch>({ batch, later }: Group<Batch>): Promise<void> {
  for (const add of later) {
    const steps = add(batch);
    if (steps === undefined) continue;
    for (const _ of steps) await eventLoop.next();
  }
}
