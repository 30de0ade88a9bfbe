import { ShoalError } from "@shoal/model";
import type { AccessChange, AccessPosition, AccessService, AccessSnapshot } from "../access-service.js";
import { WatchedValue } from "../watched-value.js";

/** `AccessService` in memory, behind what coordinators share when there are several. */
export class MemoryAccess implements AccessService {
  readonly #snapshot = new WatchedValue<AccessSnapshot>({ historyId: "memory", version: 0, entries: new Map() });
  /** Thrown by every call while it is set. */
  failure: ShoalError | undefined;

  async current(): Promise<AccessSnapshot> {
    await Promise.resolve();
    if (this.failure !== undefined) throw this.failure;
    return this.#snapshot.known;
  }

  async change(changes: readonly AccessChange[], expected: AccessPosition): Promise<void> {
    await Promise.resolve();
    if (this.failure !== undefined) throw this.failure;
    const { historyId, version, entries } = this.#snapshot.known;
    if (expected.historyId !== historyId || expected.version !== version) {
      throw new ShoalError("conflict", "roles or users were changed meanwhile");
    }
    const after = new Map(entries);
    for (const { key, value } of changes) {
      if (value === undefined) after.delete(key);
      else after.set(key, value);
    }
    this.replace({ historyId, version: version + 1, entries: after });
  }

  replace(snapshot: AccessSnapshot): void {
    this.#snapshot.set(snapshot);
  }

  watch(listener: (snapshot: AccessSnapshot) => void): Disposable {
    return this.#snapshot.watch(listener);
  }
}
