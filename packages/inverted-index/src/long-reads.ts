import { ShoalError } from "@shoal/model";
import { closeWork, finishWork, Gate, type Work, type WorkBounds, type Yielder } from "@shoal/runtime";
import { indexYielder } from "./index-yielder.js";

export interface LongReadLimits {
  /** Long filters, and as many long aggregations, that are worked on at the same time. */
  readonly longReadsMax: number;
  /** Of each, those that may wait; a request that is alone may have more of its own. */
  readonly longReadsWaitingMax: number;
}

const LIMITS: LongReadLimits = { longReadsMax: 2, longReadsWaitingMax: 128 };

/** Steps that a read gets while others are busy, to show that it is a short one: half a millisecond. */
const TRIAL_STEPS = 200_000;

/** Reads that may turn out to be long, per iteration of the event loop. */
const FAILED_TRIALS_MAX = 4;

const RETRY_AFTER_SECONDS = 5;

/** Makes the same work again each time. What it holds it gives back when it is closed. */
export type BeginWork<Result> = (yielder: Yielder) => Work<Result>;

/** The long reads of all shards of a process. Filters do not wait for aggregations. */
export class LongReads {
  readonly filters: LongReadGate;
  readonly aggregations: LongReadGate;

  constructor(limits = LIMITS) {
    this.filters = new LongReadGate("filters", limits);
    this.aggregations = new LongReadGate("aggregations", limits);
  }
}

/**
 * Lets few long reads be worked on at the same time, in equal parts by share: many at once hold much memory, and none of
 * them is done before all of them are. One that is done before its first pause goes through at once, however many wait.
 */
export class LongReadGate {
  readonly #gate: Gate;
  #failedTrials = 0;

  /** `name` is for messages. */
  constructor(name: string, { longReadsMax, longReadsWaitingMax }: LongReadLimits) {
    const message = `more than ${longReadsWaitingMax} long ${name} wait`;
    const fullError = () => new ShoalError("overloaded", message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    this.#gate = new Gate({ max: longReadsMax, waitingMax: longReadsWaitingMax, mayWaitAlone: true, fullError });
  }

  get running(): number {
    return this.#gate.begun;
  }

  get waiting(): number {
    return this.#gate.waiting;
  }

  /**
   * The result itself when the work does not pause. One that has to wait is restarted later, so that it holds nothing
   * until then; asking for the signal makes it, so short work does not. Fails with `overloaded` when too many wait, and with the signal's reason when that fires.
   */
  run<Result>(begin: BeginWork<Result>, bounds: WorkBounds): Result | Promise<Result> {
    if (this.#mustLookLater) return this.#tryLater(begin, bounds);
    return this.#try(begin, bounds);
  }

  get #mustLookLater(): boolean {
    return this.#failedTrials >= FAILED_TRIALS_MAX && this.#gate.mustWait(1);
  }

  #try<Result>(begin: BeginWork<Result>, bounds: WorkBounds): Result | Promise<Result> {
    const isTrial = this.#gate.mustWait(1);
    const work = begin(indexYielder(isTrial ? TRIAL_STEPS : undefined));
    const step = work.next();
    if (step.done === true) return step.value;
    if (!isTrial) return this.#gate.run(1, bounds, () => finishWork(work, step.value, bounds));
    closeWork(work, step.value);
    if (this.#failedTrials++ === 0) setImmediate(() => (this.#failedTrials = 0));
    return this.#gate.run(1, bounds, () => finishWork(begin(indexYielder()), undefined, bounds));
  }

  async #tryLater<Result>(begin: BeginWork<Result>, bounds: WorkBounds): Promise<Result> {
    while (this.#mustLookLater) {
      await new Promise((resolve) => setImmediate(resolve));
      bounds.signal?.throwIfAborted();
    }
    return this.#try(begin, bounds);
  }
}
