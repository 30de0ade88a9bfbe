import { monotonicMs } from "./http/monotonic.js";

/** So much work is begun in a turn before whoever asks has to wait for another one. */
const TURN_MS = 10;

/**
 * Lets costly steps be taken one in each turn of the event loop: steps that are due together would otherwise be taken back
 * to back, and everybody else would wait for all of them.
 */
export class LoopTurns {
  readonly #waiting: (() => void)[] = [];
  /** When room was asked for first in this turn of the event loop. */
  #begunMs: number | undefined;

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Resolves in a turn in which nobody else's step is taken, in the order of the calls. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) setImmediate(this.#give);
    });
  }

  /** As {@link next}; undefined, for at once, while nobody waits and little has been done in this turn since the first call. */
  room(): Promise<void> | undefined {
    if (this.#waiting.length > 0) return this.next();
    if (this.#begunMs === undefined) {
      this.#begunMs = monotonicMs();
      setImmediate(this.#forget);
      return undefined;
    }
    return monotonicMs() - this.#begunMs < TURN_MS ? undefined : this.next();
  }

  readonly #forget = (): void => {
    this.#begunMs = undefined;
  };

  readonly #give = (): void => {
    const resolve = this.#waiting.shift();
    // An immediate set by an immediate runs in the next turn, behind what came in by then.
    if (this.#waiting.length > 0) setImmediate(this.#give);
    resolve?.();
  };
}
