import { ShoalError } from "@shoal/model";

/** Tokens that wait for their signature to be checked; one takes 30 µs to 1.2 ms. */
const WAITING_MAX = 1_000;

/**
 * Lets signatures be checked one in each turn of the event loop: a flood of well-formed bad tokens costs its own
 * requests time, not those of everybody else. Beyond the most that may wait, `overloaded`.
 */
export class VerificationTurns {
  readonly #waiting: (() => void)[] = [];
  readonly #waitingMax: number;

  constructor(waitingMax = WAITING_MAX) {
    this.#waitingMax = waitingMax;
  }

  /** Resolves in a turn in which no other signature is checked, in the order of the calls. */
  next(): Promise<void> {
    if (this.#waiting.length >= this.#waitingMax) {
      throw new ShoalError("overloaded", `more than ${this.#waitingMax} tokens wait to be verified`);
    }
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) setImmediate(this.#give);
    });
  }

  readonly #give = (): void => {
    const resolve = this.#waiting.shift();
    // An immediate set by an immediate runs in the next turn, behind what came in by then.
    if (this.#waiting.length > 0) setImmediate(this.#give);
    resolve?.();
  };
}
