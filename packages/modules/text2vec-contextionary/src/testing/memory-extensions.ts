import type { Json } from "@shoal/model";
import type { ExtensionStore } from "@shoal/module-api";

/** Extensions in memory. */
export class MemoryExtensions implements ExtensionStore {
  entries: ReadonlyMap<string, Json> = new Map();
  readonly #listeners = new Set<() => void>();

  async put(key: string, value: Json): Promise<void> {
    this.entries = new Map([...this.entries, [key, value]]);
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }
}
