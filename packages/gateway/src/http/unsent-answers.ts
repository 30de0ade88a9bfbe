import type { ServerResponse } from "node:http";
import type { AnswerBudget } from "../answer-budget.js";

/** Smaller answers fit into the buffers of their connections, of which there is a most. */
const UNCOUNTED_BYTES_MAX = 16 * 1024;

/** An answer that is on its way for longer may be cut off when there is no room for others. */
const PATIENCE_MS = 5_000;

interface Unsent {
  readonly bytes: number;
  readonly sinceMs: number;
}

/** The part of the memory of answers that clients have not taken yet. */
export class UnsentAnswers {
  readonly #budget: AnswerBudget;
  readonly #nowMs: () => number;
  /** In the order in which they were handed over. */
  readonly #unsent = new Map<ServerResponse, Unsent>();
  #held = 0;

  /** `nowMs` must be monotonic. */
  constructor(budget: AnswerBudget, nowMs: () => number) {
    this.#budget = budget;
    this.#nowMs = nowMs;
    budget.whenFull((bytes) => this.#cutOff(bytes));
  }

  get heldBytes(): number {
    return this.#held;
  }

  /**
   * Counts an answer until its connection has taken it. Where there is no room, for this or for one that is being made,
   * clients that have been taking theirs for a while are cut off, the slowest first; false, and nothing counted, when
   * that gives too little.
   */
  take(response: ServerResponse, bytes: number): boolean {
    // One that waits behind others of its connection takes memory whatever its size.
    if (bytes <= UNCOUNTED_BYTES_MAX && response.socket !== null) return true;
    if (!this.#budget.tryTake(bytes)) return false;
    this.#held += bytes;
    this.#unsent.set(response, { bytes, sinceMs: this.#nowMs() });
    response.once("close", () => this.#give(response));
    return true;
  }

  #cutOff(bytes: number): void {
    const before = this.#nowMs() - PATIENCE_MS;
    for (const [response, unsent] of this.#unsent) {
      if (unsent.sinceMs > before || this.#budget.fits(bytes)) return;
      this.#give(response);
      response.destroy();
    }
  }

  #give(response: ServerResponse): void {
    const unsent = this.#unsent.get(response);
    if (unsent === undefined) return;
    this.#unsent.delete(response);
    this.#held -= unsent.bytes;
    this.#budget.give(unsent.bytes);
  }
}
