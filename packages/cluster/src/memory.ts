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
  /** What came last and is not stored. */
  #next: { readonly value: T } | undefined;
  #storing: Promise<void> | undefined;

  constructor(memory: Memory<T>, onFailed: (error: ShoalError) => void) {
    this.#memory = memory;
    this.#onFailed = onFailed;
  }

  keep(value: T): void {
    this.#next = { value };
    this.#begin();
  }

  /** Resolves when what came last is stored; tries again what could not be, and fails when it still cannot. */
  async kept(): Promise<void> {
    await this.#storing;
    if (this.#next !== undefined) await this.#begin();
    if (this.#next !== undefined) throw new ShoalError("unavailable", "it could not be stored");
  }

  /** Waits for the last one. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#storing;
  }

  #begin(): Promise<void> {
    this.#storing ??= this.#store().finally(() => {
      this.#storing = undefined;
    });
    return this.#storing;
  }

  async #store(): Promise<void> {
    for (let next = this.#next; next !== undefined; next = this.#next) {
      try {
        await this.#memory.store(next.value);
        if (this.#next === next) this.#next = undefined;
      } catch (thrown) {
        this.#onFailed(ShoalError.from(thrown));
        if (this.#next === next) return;
      }
    }
  }
}
