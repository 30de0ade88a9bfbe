/** What the page shows, and whom to tell when it changes. */
export class Source<T> {
  readonly #listeners = new Set<() => void>();
  #state: T;

  constructor(state: T) {
    this.#state = state;
  }

  get state(): T {
    return this.#state;
  }

  /** Called after each change; returns its end. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  protected become(state: T): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}
