import { ShoalError } from "@shoal/model";
import {
  type AccessChange,
  type AccessPosition,
  type AccessService,
  type AccessSnapshot,
  WatchedValue,
} from "@shoal/rpc";

/** What several gateways ask, which counts. */
export class CountedAccess implements AccessService {
  readonly #snapshot: WatchedValue<AccessSnapshot>;
  failure: ShoalError | undefined;
  reads = 0;
  conflicts = 0;
  readonly changed: string[] = [];

  constructor(entries: AccessSnapshot["entries"] = new Map()) {
    this.#snapshot = new WatchedValue<AccessSnapshot>({ historyId: "h", version: 0, entries });
  }

  get entries(): AccessSnapshot["entries"] {
    return this.#snapshot.known.entries;
  }

  async current(): Promise<AccessSnapshot> {
    this.reads++;
    await Promise.resolve();
    if (this.failure !== undefined) throw this.failure;
    return this.#snapshot.known;
  }

  async change(changes: readonly AccessChange[], expected: AccessPosition): Promise<void> {
    await Promise.resolve();
    const { historyId, version, entries } = this.#snapshot.known;
    if (expected.version !== version) {
      this.conflicts++;
      throw new ShoalError("conflict", "roles or users were changed meanwhile");
    }
    const after = new Map(entries);
    for (const { key, value } of changes) {
      if (value === undefined) after.delete(key);
      else after.set(key, value);
      this.changed.push(key);
    }
    this.#snapshot.set({ historyId, version: version + 1, entries: after });
  }

  watch(listener: (snapshot: AccessSnapshot) => void): Disposable {
    return this.#snapshot.watch(listener);
  }
}
