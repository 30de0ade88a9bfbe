/** Reading a longer body (parsing it, cutting its vectors out) holds the process for milliseconds. */
export const LONG_BODY_BYTES = 256 * 1024;

/**
 * Lets long bodies be read one in each turn of the event loop: bodies that end together would otherwise be read back to
 * back, and everybody else would wait for all of them.
 */
export class BodyTurns {
  readonly #waiting: (() => void)[] = [];

  /** Resolves in a turn in which no other body is read, in the order of the calls. */
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
