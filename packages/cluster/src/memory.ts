import { ShoalError } from "@shoal/model";

/** Keeps the last of something over restarts, e.g. in a file; whoever composes the process says where. */
export interface Memory<T> {
  /** Undefined when nothing was ever stored. */
  load(): Promise<T | undefined>;
  /** Durable, and instead of what was stored before, when it resolves. */
  store(value: T): Promise<void>;
}

/** Stores values one after the other; of those that come while one is being stored only the last. */
export class MemoryKeeper<T> implements AsyncDisposable {
  readonly #memory: Memory<T>;
  readonly #onFailed: (error: ShoalError) => void;
  #next: { readonly value: T } | undefined;
  #storing: Promise<void> | undefined;

  constructor(memory: Memory<T>, onFailed: (error: ShoalError) => void) {
    this.#memory = memory;
    this.#onFailed = onFailed;
  }

  keep(value: T): void {
    this.#next = { value };
    this.#storing ??= this.#store().finally(() => {
      this.#storing = undefined;
    });
  }

  /** Waits for the last one. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#storing;
  }

  async #store(): Promise<void> {
    for (let next = this.#next; next !== undefined; next = this.#next) {
      this.#next = undefined;
      try {
        await this.#memory.store(next.value);
      } catch (thrown) {
        this.#onFailed(ShoalError.from(thrown));
      }
    }
  }
}
