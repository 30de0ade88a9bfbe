import { ShoalError } from "@shoal/model";
import { checkBatch, checkKey, checkRange } from "../batch-check.js";
import type { KeyRange, KeyValueChange, KeyValueEntry, KeyValueStore, WriteOptions } from "../key-value-store.js";
import { openRecord, sealRecord } from "../record-envelope.js";
import { SortedEntries, type StoredChange } from "../sorted-entries.js";

const CHUNK_ENTRIES_MAX = 256;

/**
 * A store in memory with the same envelope and the same results as `RocksStore`; nothing outlives it.
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
    const result = this.#lookUp(key);
    if (result instanceof ShoalError) throw result;
    return result;
  }

  async getMany(keys: readonly Uint8Array[]): Promise<readonly (Uint8Array | undefined | Error)[]> {
    return keys.map((key) => this.#lookUp(key));
  }

  scan(range: KeyRange, onDamaged?: (key: Uint8Array) => void): AsyncIterable<readonly KeyValueEntry[]> {
    checkRange(range);
    return { [Symbol.asyncIterator]: () => scanFrom(() => this.#checkOpen().#entries, range, onDamaged) };
  }

  /**
   * Lets `damage` change the stored bytes (the envelope) under `key` in place: what a fault of the disk would do.
   * Throws `notFound` when there is no such key.
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

  /** A copy: what a caller does to a result must not reach the store. */
  #lookUp(key: Uint8Array): Uint8Array | undefined | ShoalError {
    this.#checkOpen();
    checkKey(key);
    const envelope = this.#entries.get(key);
    return envelope === undefined ? undefined : openRecord(key, Uint8Array.from(envelope));
  }

  #checkOpen(): this {
    if (this.#closed) throw new ShoalError("unavailable", "memory store is closed");
    return this;
  }
}

function sealChange(change: KeyValueChange): StoredChange {
  const key = Uint8Array.from(change.key);
  return { key, value: change.type === "put" ? sealRecord(key, change.value) : undefined };
}

/** `source` throws when the scan may not go on; it is asked again after each chunk. */
async function* scanFrom(
  source: () => SortedEntries,
  range: KeyRange,
  onDamaged: ((key: Uint8Array) => void) | undefined,
): AsyncGenerator<readonly KeyValueEntry[]> {
  let left = range.limit ?? Number.POSITIVE_INFINITY;
  let chunk: KeyValueEntry[] = [];
  if (left === 0) return;
  for (const entry of source().ascending(range.gte, range.lt)) {
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
