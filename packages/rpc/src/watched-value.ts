type Known<T> = Exclude<T, undefined>;

/** A value that changes, and those who are told of it. It may be undefined until it is set first; of that nobody is told. */
export class WatchedValue<T> {
  readonly #listeners = new Set<(value: Known<T>) => void>();
  #known: T;

  constructor(known: T) {
    this.#known = known;
  }

  /** The last one that was set. */
  get known(): T {
    return this.#known;
  }

  /** When this returns, everybody has been told. */
  set(value: Known<T>): void {
    this.#known = value;
    // Who is disposed of meanwhile is not told, and who comes is told once, by `watch`.
    for (const listener of [...this.#listeners]) if (this.#listeners.has(listener)) listener(value);
  }

  /** Calls `listener` with what is known, if anything is, and then with every later value, until disposed of. */
  watch(listener: (value: Known<T>) => void): Disposable {
    this.#listeners.add(listener);
    if (this.#known !== undefined) listener(this.#known as Known<T>);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  /** Resolves when the listeners of before have been told of a value that is as wanted, or after a while. */
  reached(isWanted: (value: Known<T>) => boolean, waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        subscription[Symbol.dispose]();
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(done, waitMs);
      const subscription = this.watch((value) => {
        if (isWanted(value)) queueMicrotask(done);
      });
    });
  }

  /** Nobody is told any more. */
  forgetListeners(): void {
    this.#listeners.clear();
  }
}
