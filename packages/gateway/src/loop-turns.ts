/**
 * Lets costly steps be taken one in each turn of the event loop: steps that are due together would otherwise be taken back
 * to back, and everybody else would wait for all of them.
 */
export class LoopTurns {
  readonly #waiting: (() => void)[] = [];

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

  readonly #give = (): void => {
    const resolve = this.#waiting.shift();
    // An immediate set by an immediate runs in the next turn, behind what came in by then.
    if (this.#waiting.length > 0) setImmediate(this.#give);
    resolve?.();
  };
}
