import { FairQueue } from "./fair-queue.js";
import { NOBODY, type Share, type WorkBounds } from "./request-context.js";

/** So much work may begin in one iteration of the event loop; further work waits for another one. */
const ITERATION_MS = 10;

/**
 * Iterations of the event loop between two costly steps. A small request needs several iterations, from one callback to the next:
 * it should not wait for a step in each of them. An idle iteration takes some ten microseconds.
 */
const FREE_ITERATIONS = 3;

/**
 * While small requests come, steps are followed by pauses that are twice as long as they were: a request that finds no step is answered in
 * the time that it takes. Of one step so much counts, since it may have been preempted, and so much is kept of several.
 */
const PAUSE_OF_STEP = 2;
const STEP_MS_MAX = 4;
const OWED_MS_MAX = 20;
/** A shorter pause costs more than it gives. */
const PAUSE_MS_MIN = 1;
/** A request that takes longer, as one that waits for a model, is not small. */
const SMALL_MS_MAX = 50;
/** So long after one has ended others are expected. */
const LATELY_MS = 100;

/**
 * Runs at most one costly step in each iteration of the event loop, in equal parts by share: steps that are due
 * together would otherwise run back to back, and everybody else would wait for all of them. While small requests come, which
 * take no steps, they have two thirds of the time.
 */
export class StepQueue {
  readonly #waiting = new FairQueue<() => void>();
  readonly #nowMs: () => number;
  /** That are left until the next step. */
  #freeIterations = 0;
  /** Connections with a small request under way, and when it began. */
  readonly #small = new Map<number, number>();
  /** When the last one ended. */
  #lastSmallMs = Number.NEGATIVE_INFINITY;
  /** Of pauses, for the steps since the last one. */
  #owedMs = 0;
  #begunStepMs = 0;
  /** When room was first asked for in this iteration of the event loop. */
  #begunMs: number | undefined;

  /** `nowMs` must be monotonic. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** A request begins that counts as small until it waits for a step, or takes long. */
  begins({ connection }: Share): void {
    this.#small.set(connection, this.#nowMs());
  }

  ends({ connection }: Share): void {
    const begunMs = this.#small.get(connection);
    if (begunMs === undefined) return;
    this.#small.delete(connection);
    const now = this.#nowMs();
    if (now - begunMs < SMALL_MS_MAX) this.#lastSmallMs = now;
  }

  /** Resolves in an iteration of the event loop in which no other step runs. */
  next(share: Share = NOBODY): Promise<void> {
    this.#small.delete(share.connection);
    return new Promise((resolve) => {
      this.#waiting.add(share, resolve);
      if (this.#waiting.size === 1) setImmediate(this.#give);
    });
  }

  /** As {@link next}; undefined, for at once, while nobody waits and little has been done in this iteration since the first call. */
  room(share: Share = NOBODY): Promise<void> | undefined {
    if (this.#waiting.size > 0) return this.next(share);
    if (this.#begunMs === undefined) {
      this.#begunMs = this.#nowMs();
      setImmediate(this.#forget);
      return undefined;
    }
    return this.#nowMs() - this.#begunMs < ITERATION_MS ? undefined : this.next(share);
  }

  readonly #forget = (): void => {
    this.#begunMs = undefined;
  };

  get #areSmallOnesComing(): boolean {
    const now = this.#nowMs();
    if (now - this.#lastSmallMs < LATELY_MS) return true;
    for (const [connection, begunMs] of this.#small) {
      if (now - begunMs < SMALL_MS_MAX) return true;
      this.#small.delete(connection);
    }
    return false;
  }

  readonly #countStep = (): void => {
    const tookMs = Math.min(STEP_MS_MAX, this.#nowMs() - this.#begunStepMs);
    this.#owedMs = Math.min(OWED_MS_MAX, this.#owedMs + PAUSE_OF_STEP * tookMs);
  };

  readonly #give = (): void => {
    if (this.#freeIterations > 0) {
      this.#freeIterations--;
      setImmediate(this.#give);
      return;
    }
    if (this.#owedMs >= PAUSE_MS_MIN && this.#areSmallOnesComing) {
      setTimeout(this.#give, this.#owedMs);
      this.#owedMs = 0;
      return;
    }
    this.#freeIterations = FREE_ITERATIONS;
    this.#begunStepMs = this.#nowMs();
    const resolve = this.#waiting.take();
    // An immediate set by an immediate runs in the next iteration, behind what came in by then.
    if (this.#waiting.size > 0) setImmediate(this.#give);
    resolve?.();
    // When all that the step does at once is done, and before anything else.
    queueMicrotask(() => process.nextTick(this.#countStep));
  };
}

/** The steps of long work on this thread's event loop. There is one loop, so there is one queue for everything that takes long on it. */
export const eventLoop = new StepQueue(() => performance.now());

/** Resolves when the caller may take its next step; fails with the signal's reason when it has fired by then. */
export async function nextStep(bounds: WorkBounds): Promise<void> {
  await eventLoop.next(bounds.share);
  bounds.signal?.throwIfAborted();
}
