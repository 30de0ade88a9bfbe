import { FairQueue } from "./fair-queue.js";
import { NOBODY, type Share, type WorkBounds } from "./request-context.js";

/** So much work is begun in a turn before whoever asks has to wait for another one. */
const TURN_MS = 10;

/**
 * Turns between two costly steps. A small request needs several turns, from one callback to the next: it should not wait for a step
 * in each of them. A turn in which there is nothing to do takes some ten microseconds.
 */
const FREE_TURNS = 3;

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
 * Lets costly steps be taken one in each turn of the event loop, in equal parts by share: steps that are due together
 * would otherwise be taken back to back, and everybody else would wait for all of them. While small requests come, which take no
 * steps, these have two thirds of the time.
 */
export class Turns {
  readonly #waiting = new FairQueue<() => void>();
  readonly #nowMs: () => number;
  /** That are left until the next step. */
  #freeTurns = 0;
  /** Connections with a small request under way, and when it began. */
  readonly #small = new Map<number, number>();
  /** When the last one ended. */
  #lastSmallMs = Number.NEGATIVE_INFINITY;
  /** Of pauses, for the steps since the last one. */
  #owedMs = 0;
  #begunStepMs = 0;
  /** When room was asked for first in this turn of the event loop. */
  #begunMs: number | undefined;

  /** `nowMs` must be monotonic. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** A request begins that is small for all that is known: until it waits for a turn, or takes long. */
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

  /** Resolves in a turn in which nobody else's step is taken. */
  next(share: Share = NOBODY): Promise<void> {
    this.#small.delete(share.connection);
    return new Promise((resolve) => {
      this.#waiting.add(share, resolve);
      if (this.#waiting.size === 1) setImmediate(this.#give);
    });
  }

  /** As {@link next}; undefined, for at once, while nobody waits and little has been done in this turn since the first call. */
  room(share: Share = NOBODY): Promise<void> | undefined {
    if (this.#waiting.size > 0) return this.next(share);
    if (this.#begunMs === undefined) {
      this.#begunMs = this.#nowMs();
      setImmediate(this.#forget);
      return undefined;
    }
    return this.#nowMs() - this.#begunMs < TURN_MS ? undefined : this.next(share);
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
    if (this.#freeTurns > 0) {
      this.#freeTurns--;
      setImmediate(this.#give);
      return;
    }
    if (this.#owedMs >= PAUSE_MS_MIN && this.#areSmallOnesComing) {
      setTimeout(this.#give, this.#owedMs);
      this.#owedMs = 0;
      return;
    }
    this.#freeTurns = FREE_TURNS;
    this.#begunStepMs = this.#nowMs();
    const resolve = this.#waiting.take();
    // An immediate set by an immediate runs in the next turn, behind what came in by then.
    if (this.#waiting.size > 0) setImmediate(this.#give);
    resolve?.();
    // When all that the step does at once is done, and before anything else.
    queueMicrotask(() => process.nextTick(this.#countStep));
  };
}

/** The turns of this thread's event loop. There is one loop, so there is one queue for all that takes long on it. */
export const eventLoop = new Turns(() => performance.now());

/** Resolves in a turn of the caller's own; fails with the signal's reason when it has fired by then. */
export async function nextTurn(bounds: WorkBounds): Promise<void> {
  await eventLoop.next(bounds.share);
  bounds.signal?.throwIfAborted();
}
