import { eventLoop } from "@shoal/fair-share";
import { type ReadBounds, ShoalError } from "@shoal/model";
import { closeWork, Turns, type Work } from "./work.js";

export interface LongReadLimits {
  /** Long filters, and as many long aggregations, that are worked on at the same time (`LONG_READS_MAX`). */
  readonly longReadsMax: number;
  /** Of each, those that may wait (`LONG_READS_WAITING_MAX`). */
  readonly longReadsWaitingMax: number;
}

export const DEFAULT_LONG_READ_LIMITS: LongReadLimits = { longReadsMax: 2, longReadsWaitingMax: 128 };

/** Steps that a read gets while others are busy, to show that it is a short one: half a millisecond. */
const TRIAL_STEPS = 200_000;

/** Reads that may turn out to be long in one turn of the event loop. */
const FAILED_TRIALS_MAX = 4;

const RETRY_AFTER_SECONDS = 5;

/** Makes the same work anew each time. What it holds it gives back when it is closed. */
export type BeginWork<Result> = (turns: Turns) => Work<Result>;

/** The long reads of all shards of a process. Filters do not wait for aggregations. */
export class LongReads {
  readonly filters: LongReadGate;
  readonly aggregations: LongReadGate;

  constructor(limits: LongReadLimits = DEFAULT_LONG_READ_LIMITS) {
    this.filters = new LongReadGate("filters", limits);
    this.aggregations = new LongReadGate("aggregations", limits);
  }
}

/**
 * Lets few long reads be worked on at the same time, first come, first served: many at once hold much memory, and none of
 * them is done before all of them are. One that is done before its first pause goes through at once, however many wait.
 */
export class LongReadGate {
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #failedTrials = 0;

  constructor(
    readonly name: string,
    private readonly limits: LongReadLimits,
  ) {}

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * The result itself when the work does not pause. One that has to wait is begun anew later, so that it holds nothing
   * until then; asking for the signal makes it, so short work does not. Fails with `overloaded` when too many wait, and with the signal's reason when that fires.
   */
  run<Result>(begin: BeginWork<Result>, bounds: ReadBounds): Result | Promise<Result> {
    if (this.#isBusy && this.#failedTrials >= FAILED_TRIALS_MAX) return this.#tryLater(begin, bounds);
    return this.#try(begin, bounds);
  }

  get #isBusy(): boolean {
    return this.#running >= this.limits.longReadsMax;
  }

  #try<Result>(begin: BeginWork<Result>, bounds: ReadBounds): Result | Promise<Result> {
    const isTrial = this.#isBusy;
    const work = begin(isTrial ? new Turns(TRIAL_STEPS) : new Turns());
    const step = work.next();
    if (step.done === true) return step.value;
    if (!isTrial) {
      this.#running++;
      return this.#finish(work, step.value, bounds);
    }
    closeWork(work, step.value);
    if (this.#failedTrials++ === 0) setImmediate(() => (this.#failedTrials = 0));
    return this.#runLater(begin, bounds);
  }

  async #tryLater<Result>(begin: BeginWork<Result>, bounds: ReadBounds): Promise<Result> {
    while (this.#isBusy && this.#failedTrials >= FAILED_TRIALS_MAX) {
      await new Promise((resolve) => setImmediate(resolve));
      bounds.signal?.throwIfAborted();
    }
    return this.#try(begin, bounds);
  }

  async #runLater<Result>(begin: BeginWork<Result>, bounds: ReadBounds): Promise<Result> {
    await this.#place(bounds);
    return this.#finish(begin(new Turns()), undefined, bounds);
  }

  /** Resolves when a place is the caller's. */
  #place({ signal }: ReadBounds): Promise<void> {
    const { longReadsWaitingMax } = this.limits;
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      if (this.#waiting.length >= longReadsWaitingMax) {
        const message = `more than ${longReadsWaitingMax} long ${this.name} wait (LONG_READS_WAITING_MAX)`;
        return reject(new ShoalError("overloaded", message, { retryAfterSeconds: RETRY_AFTER_SECONDS }));
      }
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal?.reason);
      };
      const enter = (): void => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiting.push(enter);
    });
  }

  /** In a place, which goes to the next one afterwards. */
  async #finish<Result>(
    work: Work<Result>,
    first: Promise<unknown> | undefined,
    { signal, share }: ReadBounds,
  ): Promise<Result> {
    let pause = first;
    try {
      for (;;) {
        signal?.throwIfAborted();
        await (pause ?? eventLoop.next(share));
        signal?.throwIfAborted();
        const step = work.next();
        if (step.done === true) return step.value;
        pause = step.value;
      }
    } finally {
      closeWork(work, pause);
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}
