import type { WorkBounds } from "./request-context.js";
import { nextTurn } from "./turns.js";

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
  readonly #nowMs: (() => number) | undefined;
  #done = 0;
  #begunMs = 0;

  /**
   * `turnMax` is what is done in one turn, in the caller's units: a millisecond, or less. Where nobody can say how much a step
   * is, `nowMs` counts in its place, and `turnMax` is in milliseconds. The bounds are asked between turns only: short work does
   * not make their signal.
   */
  constructor(turnMax: number, bounds: WorkBounds = {}, nowMs?: () => number) {
    this.#turnMax = turnMax;
    this.#bounds = bounds;
    this.#nowMs = nowMs;
    this.pause();
  }

  /** So much was done. */
  count(amount: number): void {
    this.#done += amount;
  }

  get isOver(): boolean {
    const done = this.#nowMs === undefined ? this.#done : this.#nowMs() - this.#begunMs;
    return done >= this.#turnMax;
  }

  /** Resolves in a turn of the caller's own; fails with the signal's reason when it has fired. */
  async next(): Promise<void> {
    await nextTurn(this.#bounds);
    this.pause();
  }

  /** As {@link next}, in a {@link Work}, whose bounds are those of who runs it: `if (turns.isOver) yield turns.pause();` */
  pause(): undefined {
    this.#done = 0;
    if (this.#nowMs !== undefined) this.#begunMs = this.#nowMs();
    return undefined;
  }
}
