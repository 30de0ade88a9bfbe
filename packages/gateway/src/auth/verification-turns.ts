import { Turns } from "@shoal/fair-share";
import { ShoalError } from "@shoal/model";
import { monotonicMs } from "../http/monotonic.js";

/** Tokens that wait for their signature to be checked; one takes 30 µs to 1.2 ms. */
const WAITING_MAX = 1_000;

/**
 * Lets signatures be checked one in each turn of the event loop: a flood of well-formed bad tokens costs its own
 * requests time, not those of everybody else.
 */
export class VerificationTurns {
  readonly #turns = new Turns(monotonicMs);
  readonly #waitingMax: number;

  constructor(waitingMax = WAITING_MAX) {
    this.#waitingMax = waitingMax;
  }

  /** Resolves when it is the caller's turn, in the order of the calls. Fails with `overloaded` when too many wait. */
  async next(): Promise<void> {
    if (this.#turns.waiting >= this.#waitingMax) {
      throw new ShoalError("overloaded", `more than ${this.#waitingMax} tokens wait to be verified`);
    }
    await this.#turns.next();
  }
}
