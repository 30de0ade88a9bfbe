import type { WorkBounds } from "./request-context.js";
import { nextStep } from "./step-queue.js";

/**
 * When one long piece of work yields: counts what is done, and tells when that is enough for one step.
 *
 *     for (const item of items) {
 *       take(item);
 *       yielder.count(item.length);
 *       if (yielder.isDue) await yielder.next();
 *     }
 */
export class Yielder {
  readonly #stepMax: number;
  readonly #bounds: WorkBounds;
  readonly #nowMs: (() => number) | undefined;
  #done = 0;
  #begunMs = 0;

  /**
   * `stepMax` is what one step does, in the caller's units: a millisecond, or less. Where nobody can say how much work an item
   * is, `nowMs` counts instead, and `stepMax` is in milliseconds. The bounds are checked between steps only: short work does
   * not create their signal.
   */
  constructor(stepMax: number, bounds: WorkBounds = {}, nowMs?: () => number) {
    this.#stepMax = stepMax;
    this.#bounds = bounds;
    this.#nowMs = nowMs;
    this.pause();
  }

  /** So much was done. */
  count(amount: number): void {
    this.#done += amount;
  }

  get isDue(): boolean {
    const done = this.#nowMs === undefined ? this.#done : this.#nowMs() - this.#begunMs;
    return done >= this.#stepMax;
  }

  /** Resolves when the caller may take its next step; fails with the signal's reason when it has fired. */
  async next(): Promise<void> {
    await nextStep(this.#bounds);
    this.pause();
  }

  /** As {@link next}, in a {@link Work}, whose bounds are those of who runs it: `if (yielder.isDue) yield yielder.pause();` */
  pause(): undefined {
    this.#done = 0;
    if (this.#nowMs !== undefined) this.#begunMs = this.#nowMs();
    return undefined;
  }
}
