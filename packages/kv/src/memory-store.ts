import { ShoalError } from "@shoal/model";
import { checkBatch, checkKey, checkRange } from "./batch-check.js";
import type {
  KeyRange,
  KeyValueChange,
  KeyValueEntry,
  KeyValueReader,
  KeyValueStore,
  WriteOptions,
} from "./key-value-store.js";
import { openRecord, sealRecord } from "./record-envelope.js";
import { SortedEntries, type StoredChange } from "./sorted-entries.js";

const CHUNK_ENTRIES_MAX = 256;

/**
 * A store in memory with the same envelope and the same answers as `RocksStore`; nothing outlives it. For tests and for
 * what needs no disk.
 */
export class MemoryStore implements KeyValueStore {
  #entries = SortedEntries.empty;
  #closed = false;

  async write(batch: readonly KeyValueChange[], _options?: WriteOptions): Promise<void> {
    this.#checkOpen();
    checkBatch(batch);
    this.#entries = this.#entries.with(batch.map(sealChange));
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    this.#checkOpen();
    return getFrom(this.#entries, key);
  }

  async getMany(keys: readonly Uint8Array[]): Promise<readonly (Uint8Array | undefined | Error)[]> {
    this.#checkOpen();
    return getManyFrom(this.#entries, keys);
  }

  scan(range: KeyRange, onDamaged?: (key: Uint8Array) => void): AsyncIterable<readonly KeyValueEntry[]> {
    checkRange(range);
    return { [Symbol.asyncIterator]: () => scanFrom(() => this.#checkOpen().#entries, range, onDamaged) };
  }

  snapshot(): KeyValueReader & AsyncDisposable {
    this.#checkOpen();
    return new MemorySnapshot(this.#entries);
  }

  /**
   * Lets `damage` change the stored bytes (the envelope) under `key` in place: what a fault of the disk would do.
   * Snapshots keep the old bytes. Throws `notFound` when there is no such key.
   */
  damage(key: Uint8Array, damage: (envelope: Uint8Array) => void): void {
    const envelope = this.#entries.get(key);
    if (envelope === undefined) throw new ShoalError("notFound", "no record to damage");
    const changed = Uint8Array.from(envelope);
    damage(changed);
    this.#entries = this.#entries.with([{ key: Uint8Array.from(key), value: changed }]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#entries = SortedEntries.empty;
  }

  #checkOpen(): this {
    if (this.#closed) throw new ShoalError("unavailable", "memory store is closed");
    return this;
  }
}

class MemorySnapshot implements KeyValueReader, AsyncDisposable {
  #entries: SortedEntries | undefined;

  constructor(entries: SortedEntries | undefined) {
    this.#entries = entries;
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    return getFrom(this.#pinned(), key);
  }

  async getMany(keys: readonly Uint8Array[]): Promise<readonly (Uint8Array | undefined | Error)[]> {
    return getManyFrom(this.#pinned(), keys);
  }

  scan(range: KeyRange, onDamaged?: (key: Uint8Array) => void): AsyncIterable<readonly KeyValueEntry[]> {
    checkRange(range);
    return { [Symbol.asyncIterator]: () => scanFrom(() => this.#pinned(), range, onDamaged) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#entries = undefined;
  }

  #pinned(): SortedEntries {
    if (this.#entries === undefined) throw new ShoalError("unavailable", "snapshot is disposed of");
    return this.#entries;
  }
}

function sealChange(change: KeyValueChange): StoredChange {
  const key = Uint8Array.from(change.key);
  return { key, value: change.type === "put" ? sealRecord(key, change.value) : undefined };
}

function getFrom(entries: SortedEntries, key: Uint8Array): Uint8Array | undefined {
  const result = lookUp(entries, key);
  if (result instanceof ShoalError) throw result;
  return result;
}

function getManyFrom(entries: SortedEntries, keys: readonly Uint8Array[]): (Uint8Array | undefined | Error)[] {
  return keys.map((key) => lookUp(entries, key));
}

/** A copy: what a caller does to an answer must not reach the store. */
function lookUp(entries: SortedEntries, key: Uint8Array): Uint8Array | undefined | ShoalError {
  checkKey(key);
  const envelope = entries.get(key);
  return envelope === undefined ? undefined : openRecord(key, Uint8Array.from(envelope));
}

/** `source` throws when the scan may not go on; it is asked again after each chunk. */
async function* scanFrom(
  source: () => SortedEntries,
  range: KeyRange,
  onDamaged: ((key: Uint8Array) => void) | undefined,
): AsyncGenerator<readonly KeyValueEntry[]> {
  const entries = source();
  const walk = range.reverse ? entries.descending(range.gte, range.lt) : entries.ascending(range.gte, range.lt);
  let left = range.limit ?? Number.POSITIVE_INFINITY;
  let chunk: KeyValueEntry[] = [];
  if (left === 0) return;
  for (const entry of walk) {
    const key = Uint8Array.from(entry.key);
    const value = openRecord(key, Uint8Array.from(entry.value));
    if (value instanceof ShoalError) {
      if (onDamaged === undefined) {
        if (chunk.length > 0) yield chunk;
        throw value;
      }
      onDamaged(key);
      continue;
    }
    chunk.push({ key, value });
    left -= 1;
    if (left === 0) break;
    if (chunk.length >= CHUNK_ENTRIES_MAX) {
      yield chunk;
      chunk = [];
      source();
    }
  }
  if (chunk.length > 0) yield chunk;
}
