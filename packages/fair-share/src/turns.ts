import { FairQueue } from "./fair-queue.js";
import { NOBODY, type Share } from "./share.js";

/** So much work is begun in a turn before whoever asks has to wait for another one. */
const TURN_MS = 10;

/**
 * Turns between two costly steps. A small request needs several turns, from one callback to the next: it should not wait for a step
 * in each of them. A turn in which there is nothing to do takes some ten microseconds.
 */
const FREE_TURNS = 3;

/**
 * Lets costly steps be taken one in each turn of the event loop, in equal parts by share: steps that are due together
 * would otherwise be taken back to back, and everybody else would wait for all of them.
 */
export class Turns {
  readonly #waiting = new FairQueue<() => void>();
  readonly #nowMs: () => number;
  /** That are left until the next step. */
  #freeTurns = 0;
  /** When room was asked for first in this turn of the event loop. */
  #begunMs: number | undefined;

  /** `nowMs` must be monotonic. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Resolves in a turn in which nobody else's step is taken. */
  next(share: Share = NOBODY): Promise<void> {
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

  readonly #give = (): void => {
    if (this.#freeTurns > 0) {
      this.#freeTurns--;
      setImmediate(this.#give);
      return;
    }
    this.#freeTurns = FREE_TURNS;
    const resolve = this.#waiting.take();
    // An immediate set by an immediate runs in the next turn, behind what came in by then.
    if (this.#waiting.size > 0) setImmediate(this.#give);
    resolve?.();
  };
}
