/** A value that changes, and those who are told of it. */
export class WatchedValue<T> {
  readonly #listeners = new Set<(value: T) => void>();
  #known: T | undefined;

  constructor(known?: T) {
    this.#known = known;
  }

  /** The last one that was set; undefined before the first. */
  get known(): T | undefined {
    return this.#known;
  }

  /** When this returns, everybody has been told. */
  set(value: T): void {
    this.#known = value;
    for (const listener of [...this.#listeners]) listener(value);
  }

  /** Calls `listener` with what is known, if anything is, and then with every later value, until disposed of. */
  watch(listener: (value: T) => void): Disposable {
    this.#listeners.add(listener);
    if (this.#known !== undefined) listener(this.#known);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  /** Nobody is told any more. */
  forgetListeners(): void {
    this.#listeners.clear();
  }
}
