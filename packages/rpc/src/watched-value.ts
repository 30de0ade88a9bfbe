type Known<T> = Exclude<T, undefined>;

/** A value that changes, and its listeners. It may be undefined until it is first set; that notifies nobody. */
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

  /** When this returns, everybody has been notified. */
  set(value: Known<T>): void {
    this.#known = value;
    // A listener that is disposed of meanwhile is not notified, and a new one is notified once, by `watch`.
    for (const listener of [...this.#listeners]) if (this.#listeners.has(listener)) listener(value);
  }

  /** Calls `listener` with what is known, if anything is, and then with every later value, until disposed of. */
  watch(listener: (value: Known<T>) => void): Disposable {
    this.#listeners.add(listener);
    if (this.#known !== undefined) listener(this.#known as Known<T>);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  /** Resolves when the earlier listeners have been notified of a value that is as wanted, or after a while. */
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

  /** Nobody is notified any more. */
  forgetListeners(): void {
    this.#listeners.clear();
  }
}
