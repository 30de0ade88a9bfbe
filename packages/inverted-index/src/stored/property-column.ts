import { CacheSlot } from "../cached/cache-slot.js";
import type { ColumnChange, ColumnLike } from "../cached/column-like.js";
import { COLUMN_CHUNK_SHIFT, chunkOfColumnKey, columnHead, columnKey, headRange } from "../index-keys.js";
import { damaged, withPlace } from "../index-place.js";
import { type ColumnValue, decodeColumnChunk } from "../records/column-chunk.js";
import { appliedEntries, type IndexStore } from "./index-store.js";

/** The numbers of one property: in the store, and in memory when there is a cached copy of them. */
export class PropertyColumn<Cached extends ColumnLike> {
  readonly slot: CacheSlot<Cached, ColumnChange>;
  readonly property: string;
  readonly #store: IndexStore;
  readonly #head: Buffer;

  constructor(store: IndexStore, property: string, isNew: boolean, empty: () => Cached) {
    this.property = property;
    this.#store = store;
    this.#head = columnHead(store.prefixes, property);
    this.slot = new CacheSlot<Cached, ColumnChange>({
      memory: store.memory,
      empty,
      isNew,
      apply: (cached, change) => cached.set(change),
      load: (cached, bytesMax) => this.#load(cached, bytesMax),
    });
  }

  keyOf(chunk: number): Uint8Array {
    return columnKey(this.#head, chunk);
  }

  /** Fails with `dataLoss` when the record is damaged. */
  decode(value: Uint8Array | Error, visit: (offset: number, value: ColumnValue) => void): void {
    if (value instanceof Error) throw withPlace(this.#store.place, this.property, value);
    if (!decodeColumnChunk(value, visit)) {
      throw damaged(this.#store.place, this.property, "a record of numbers cannot be read");
    }
  }

  async #load(cached: Cached, bytesMax: number): Promise<boolean> {
    try {
      for await (const entries of appliedEntries(this.#store, headRange(this.#head))) {
        for (const { key, value } of entries) {
          const chunk = chunkOfColumnKey(key, this.#head.length);
          if (chunk === undefined) throw damaged(this.#store.place, this.property, "a key of numbers cannot be read");
          const first = chunk * 2 ** COLUMN_CHUNK_SHIFT;
          this.decode(value, (offset, found) => cached.set({ document: first + offset, value: found }));
        }
        if (cached.bytes > bytesMax) return false;
      }
    } catch (error) {
      throw withPlace(this.#store.place, this.property, error);
    }
    return true;
  }
}
