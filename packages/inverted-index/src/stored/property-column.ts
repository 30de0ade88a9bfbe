import type { ColumnChange, ColumnLike } from "../images/column-like.js";
import { ImageSlot } from "../images/image-slot.js";
import { COLUMN_CHUNK_SHIFT, chunkOfColumnKey, columnHead, columnKey, headRange } from "../index-keys.js";
import { damaged, withPlace } from "../index-place.js";
import { type ColumnValue, decodeColumnChunk } from "../records/column-chunk.js";
import { appliedEntries, type IndexStore } from "./index-store.js";

/** The numbers of one property: in the store, and in memory when there is an image of them. */
export class PropertyColumn<Image extends ColumnLike> {
  readonly slot: ImageSlot<Image, ColumnChange>;
  readonly property: string;
  readonly #store: IndexStore;
  readonly #head: Buffer;

  constructor(store: IndexStore, property: string, isNew: boolean, empty: () => Image) {
    this.property = property;
    this.#store = store;
    this.#head = columnHead(store.prefixes, property);
    this.slot = new ImageSlot<Image, ColumnChange>({
      memory: store.memory,
      empty,
      isNew,
      apply: (image, change) => image.set(change),
      load: (image, bytesMax) => this.#load(image, bytesMax),
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

  async #load(image: Image, bytesMax: number): Promise<boolean> {
    try {
      for await (const entries of appliedEntries(this.#store, headRange(this.#head))) {
        for (const { key, value } of entries) {
          const chunk = chunkOfColumnKey(key, this.#head.length);
          if (chunk === undefined) throw damaged(this.#store.place, this.property, "a key of numbers cannot be read");
          const first = chunk * 2 ** COLUMN_CHUNK_SHIFT;
          this.decode(value, (offset, found) => image.set({ document: first + offset, value: found }));
        }
        if (image.bytes > bytesMax) return false;
      }
    } catch (error) {
      throw withPlace(this.#store.place, this.property, error);
    }
    return true;
  }
}
