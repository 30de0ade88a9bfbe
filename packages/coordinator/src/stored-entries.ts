import { type EntriesSnapshot, type SnapshotService, WatchedValue } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { Ledger } from "./ledger.js";
import { entriesUnder, type MetaState } from "./meta-store.js";
import { historyOf } from "./stored-history.js";

/** Where entries stand in the MetaStore. */
export interface StoredEntriesPlace {
  /** Of their keys. */
  readonly prefix: string;
  /** The key of the number of their last change. Absent: their version is the revision of the store when they changed. */
  readonly versionKey?: string;
}

/** Small JSON values by key in the MetaStore, beside the schema. */
export class StoredEntries implements SnapshotService<EntriesSnapshot>, Disposable {
  protected readonly ledger: Ledger;
  readonly #place: StoredEntriesPlace;
  readonly #subscription: Disposable;
  readonly #snapshot: WatchedValue<EntriesSnapshot>;

  constructor(ledger: Ledger, place: StoredEntriesPlace) {
    this.ledger = ledger;
    this.#place = place;
    this.#snapshot = new WatchedValue(this.snapshotOf(ledger.state));
    this.#subscription = ledger.onState((state) => this.#follow(state));
  }

  async current(_context: RequestContext): Promise<EntriesSnapshot> {
    await this.ledger.current();
    return this.#snapshot.known;
  }

  watch(listener: (snapshot: EntriesSnapshot) => void): Disposable {
    return this.#snapshot.watch(listener);
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
    this.#snapshot.forgetListeners();
  }

  protected snapshotOf(state: MetaState): EntriesSnapshot {
    const entries = new Map(entriesUnder(this.#place.prefix, state));
    const { historyId } = historyOf(this.ledger.historyId, state);
    return { historyId, version: this.#versionOf(state), entries };
  }

  #versionOf({ revision, entries }: MetaState): number {
    const { versionKey } = this.#place;
    return versionKey === undefined ? revision : Number(entries.get(versionKey) ?? 0);
  }

  /** Other changes of the store do not concern anybody here. */
  #follow(state: MetaState): void {
    const before = this.#snapshot.known;
    const isSameHistory = historyOf(this.ledger.historyId, state).historyId === before.historyId;
    if (isSameHistory && this.#versionOf(state) === before.version) return;
    const snapshot = this.snapshotOf(state);
    const isVersioned = this.#place.versionKey !== undefined;
    if (isVersioned || !isSameHistory || !hasSameEntries(before, snapshot)) this.#snapshot.set(snapshot);
  }
}

/** Values that did not change are the same objects in every state. */
function hasSameEntries({ entries: before }: EntriesSnapshot, { entries }: EntriesSnapshot): boolean {
  if (entries.size !== before.size) return false;
  for (const [key, value] of entries) if (before.get(key) !== value) return false;
  return true;
}
