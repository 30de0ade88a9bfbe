import { setImmediate } from "node:timers/promises";

/** Units of work, some tens of nanoseconds each, after which somebody else should have a turn of the event loop. */
const TURN_WORK = 100_000;

/** Lets long work be done in turns of the event loop. */
export class Turns {
  readonly #signal: () => AbortSignal | undefined;
  #work = 0;

  /** Takes the bounds and not their signal: asking for the signal makes it, which short work does not need. */
  constructor(bounds: { readonly signal?: AbortSignal | undefined }) {
    this.#signal = () => bounds.signal;
  }

  /** So much was done. */
  count(work: number): void {
    this.#work += work;
  }

  get isOver(): boolean {
    return this.#work >= TURN_WORK;
  }

  /** Resolves in a later turn; fails with the signal's reason when it has fired. */
  async next(): Promise<void> {
    await setImmediate();
    this.#signal()?.throwIfAborted();
    this.#work = 0;
  }
}
