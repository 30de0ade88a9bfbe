import type { Json } from "@shoal/model";
import type { ExtensionService, ExtensionsSnapshot } from "../extension-service.js";

/** Extensions in memory, behind what coordinators share when there are several. */
export class MemoryExtensions implements ExtensionService {
  readonly #listeners = new Set<(snapshot: ExtensionsSnapshot) => void>();
  #snapshot: ExtensionsSnapshot = { historyId: "memory", version: 0, entries: new Map() };

  async put(key: string, value: Json): Promise<void> {
    await Promise.resolve();
    const { historyId, version, entries } = this.#snapshot;
    this.replace({ historyId, version: version + 1, entries: new Map(entries).set(key, value) });
  }

  replace(snapshot: ExtensionsSnapshot): void {
    this.#snapshot = snapshot;
    for (const listener of [...this.#listeners]) listener(this.#snapshot);
  }

  async current(): Promise<ExtensionsSnapshot> {
    return this.#snapshot;
  }

  watch(listener: (snapshot: ExtensionsSnapshot) => void): Disposable {
    this.#listeners.add(listener);
    listener(this.#snapshot);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }
}
