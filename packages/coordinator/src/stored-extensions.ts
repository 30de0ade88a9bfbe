import { type Json, ShoalError } from "@shoal/model";
import { type ExtensionService, type ExtensionsSnapshot, WatchedValue } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { Ledger } from "./ledger.js";
import type { MetaState } from "./meta-store.js";
import { historyOf } from "./stored-history.js";
import { otherChanges } from "./stored-schema.js";

/** Prefix of the keys under which extensions stand in the MetaStore. */
const PREFIX = "extension/";
/** Every process keeps all of them in memory, and etcd takes no large value. */
const EXTENSIONS_MAX = 10_000;
const EXTENSION_BYTES_MAX = 256 * 1024;
const ALL_BYTES_MAX = 64 * 1024 * 1024;
const KEY_CHARS_MAX = 1_000;

export interface ExtensionLimits {
  readonly extensionsMax: number;
  /** Bytes of the JSON of one, and of all. */
  readonly extensionBytesMax: number;
  readonly allBytesMax: number;
}

const LIMITS: ExtensionLimits = {
  extensionsMax: EXTENSIONS_MAX,
  extensionBytesMax: EXTENSION_BYTES_MAX,
  allBytesMax: ALL_BYTES_MAX,
};

/** What modules keep for all processes, beside the schema. A snapshot's version is a revision of the store. */
export class StoredExtensions implements ExtensionService, Disposable {
  readonly #ledger: Ledger;
  readonly #limits: ExtensionLimits;
  readonly #subscription: Disposable;
  readonly #snapshot: WatchedValue<ExtensionsSnapshot>;

  constructor(ledger: Ledger, limits: Partial<ExtensionLimits> = {}) {
    this.#ledger = ledger;
    this.#limits = { ...LIMITS, ...limits };
    this.#snapshot = new WatchedValue(snapshotOf(ledger.historyId, ledger.state));
    this.#subscription = ledger.onState((state) => this.#follow(state));
  }

  put(key: string, value: Json, context: RequestContext): Promise<void> {
    return this.#ledger.change(context, (state) => {
      this.#checkFits(key, value, state);
      return { changes: otherChanges(state, [{ key: PREFIX + key, value }]), answer: undefined };
    });
  }

  /** Fails with `tooLarge`. */
  #checkFits(key: string, value: Json, state: MetaState): void {
    const { extensionsMax, extensionBytesMax, allBytesMax } = this.#limits;
    const refused = (reason: string): ShoalError =>
      new ShoalError("tooLarge", `'${key.slice(0, 100)}' cannot be stored: ${reason}`);
    const bytes = bytesOf(value);
    if (key.length > KEY_CHARS_MAX) throw refused(`its name has more than ${KEY_CHARS_MAX} characters`);
    if (bytes > extensionBytesMax) throw refused(`it has ${bytes} bytes, at most ${extensionBytesMax} may be`);
    const { entries } = snapshotOf(this.#ledger.historyId, state);
    const isNew = !entries.has(key);
    if (isNew && entries.size >= extensionsMax) {
      throw refused(`there are ${entries.size} extensions, the most there may be`);
    }
    let all = bytes;
    for (const [other, known] of entries) if (other !== key) all += bytesOf(known);
    if (all > allBytesMax) throw refused(`with it all would have ${all} bytes, at most ${allBytesMax} may be`);
  }

  async current(_context: RequestContext): Promise<ExtensionsSnapshot> {
    await this.#ledger.current();
    return this.#snapshot.known;
  }

  watch(listener: (snapshot: ExtensionsSnapshot) => void): Disposable {
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

/** Values stay the same objects in every state: each is measured once. */
const measured = new WeakMap<object, number>();

function bytesOf(value: Json): number {
  const known = typeof value === "object" && value !== null ? measured.get(value) : undefined;
  if (known !== undefined) return known;
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (typeof value === "object" && value !== null) measured.set(value, bytes);
  return bytes;
}

function snapshotOf(storeId: string, state: MetaState): ExtensionsSnapshot {
  const { revision, entries } = state;
  const extensions = new Map<string, Json>();
  for (const [key, value] of entries) if (key.startsWith(PREFIX)) extensions.set(key.slice(PREFIX.length), value);
  return { historyId: historyOf(storeId, state).historyId, version: revision, entries: extensions };
}
