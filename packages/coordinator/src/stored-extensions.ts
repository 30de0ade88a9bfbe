import { type Json, ShoalError } from "@shoal/model";
import { type ExtensionService, type ExtensionsSnapshot, type RequestContext, WatchedValue } from "@shoal/rpc";
import type { Ledger } from "./ledger.js";
import type { MetaState } from "./meta-store.js";
import { historyOf } from "./stored-history.js";
import { otherChanges } from "./stored-schema.js";

/** Prefix of the keys under which extensions stand in the MetaStore. */
const PREFIX = "extension/";
/** Every process keeps all of them in memory. */
const EXTENSIONS_MAX = 10_000;

/** What modules keep for all processes, beside the schema. A snapshot's version is a revision of the store. */
export class StoredExtensions implements ExtensionService, Disposable {
  readonly #ledger: Ledger;
  readonly #extensionsMax: number;
  readonly #subscription: Disposable;
  readonly #snapshot: WatchedValue<ExtensionsSnapshot>;

  constructor(ledger: Ledger, extensionsMax = EXTENSIONS_MAX) {
    this.#ledger = ledger;
    this.#extensionsMax = extensionsMax;
    this.#snapshot = new WatchedValue(snapshotOf(ledger.historyId, ledger.state));
    this.#subscription = ledger.onState((state) => this.#follow(state));
  }

  put(key: string, value: Json, context: RequestContext): Promise<void> {
    return this.#ledger.change(context, (state) => {
      const { size } = snapshotOf(this.#ledger.historyId, state).entries;
      if (size >= this.#extensionsMax && !state.entries.has(PREFIX + key)) {
        throw new ShoalError(
          "tooLarge",
          `'${key}' cannot be stored: there are ${size} extensions, the most there may be`,
        );
      }
      return { changes: otherChanges(state, [{ key: PREFIX + key, value }]), answer: undefined };
    });
  }

  async list(_context: RequestContext): Promise<ExtensionsSnapshot> {
    await this.#ledger.current();
    return this.#snapshot.known;
  }

  watchExtensions(listener: (snapshot: ExtensionsSnapshot) => void): Disposable {
    return this.#snapshot.watch(listener);
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
    this.#snapshot.forgetListeners();
  }

  /** Values that did not change are the same objects in every state. */
  #follow(state: MetaState): void {
    const { historyId, entries: before } = this.#snapshot.known;
    const snapshot = snapshotOf(this.#ledger.historyId, state);
    const { entries } = snapshot;
    const isSameHistory = snapshot.historyId === historyId;
    if (
      isSameHistory &&
      entries.size === before.size &&
      [...entries].every(([key, value]) => before.get(key) === value)
    )
      return;
    this.#snapshot.set(snapshot);
  }
}

function snapshotOf(storeId: string, state: MetaState): ExtensionsSnapshot {
  const { revision, entries } = state;
  const extensions = new Map<string, Json>();
  for (const [key, value] of entries) if (key.startsWith(PREFIX)) extensions.set(key.slice(PREFIX.length), value);
  return { historyId: historyOf(storeId, state).historyId, version: revision, entries: extensions };
}
