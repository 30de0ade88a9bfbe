/** Counts the iterations of the event loop from its creation until it is disposed of. */
export class LoopCounter implements Disposable {
  iterations = 0;
  #isOver = false;

  constructor() {
    setImmediate(this.#count);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
  }

  readonly #count = (): void => {
    this.iterations++;
    if (!this.#isOver) setImmediate(this.#count);
  };
}
