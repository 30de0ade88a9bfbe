/** Counts the turns of the event loop from when it is made until it is disposed of. */
export class TurnCounter implements Disposable {
  turns = 0;
  #isOver = false;

  constructor() {
    setImmediate(this.#count);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
  }

  readonly #count = (): void => {
    this.turns++;
    if (!this.#isOver) setImmediate(this.#count);
  };
}
