import { eventLoop } from "./event-loop.js";
import type { Share } from "./share.js";

/** For whom long work is done, and who may end it. */
export interface WorkBounds {
  readonly share?: Share | undefined;
  /** Looked at between the turns. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The turns of one long work: counts what is done, and tells when that is enough for a turn of the event loop.
 *
 *     for (const item of items) {
 *       take(item);
 *       turns.count(item.length);
 *       if (turns.isOver) await turns.next();
 *     }
 */
export class WorkTurns {
  readonly #turnMax: number;
  readonly #bounds: WorkBounds;
  #done = 0;

  /**
   * `turnMax` is what is done in one turn, in the caller's units: a millisecond, or less. The bounds are asked between
   * turns only: short work does not make their signal.
   */
  constructor(turnMax: number, bounds: WorkBounds = {}) {
    this.#turnMax = turnMax;
    this.#bounds = bounds;
  }

  /** So much was done. */
  count(amount: number): void {
    this.#done += amount;
  }

  get isOver(): boolean {
    return this.#done >= this.#turnMax;
  }

  /** Resolves in a turn of the caller's own; fails with the signal's reason when it has fired. */
  async next(): Promise<void> {
    await eventLoop.next(this.#bounds.share);
    this.#bounds.signal?.throwIfAborted();
    this.#done = 0;
  }
}
