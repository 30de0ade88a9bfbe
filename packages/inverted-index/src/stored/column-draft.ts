import type { KeyValueChange } from "@shoal/kv";
import type { ColumnChange, ColumnLike } from "../cached/column-like.js";
import { COLUMN_CHUNK_DOCUMENTS, COLUMN_CHUNK_SHIFT } from "../index-keys.js";
import { type ColumnValue, encodeColumnChunk } from "../records/column-chunk.js";
import type { NeededRecords } from "./index-store.js";

const OFFSET_MASK = COLUMN_CHUNK_DOCUMENTS - 1;

/** What a draft needs of {@link PropertyColumn}. */
export interface DraftedColumn {
  readonly slot: { readonly resident: ColumnLike | undefined; apply(changes: readonly ColumnChange[]): void };
  keyOf(chunk: number): Uint8Array;
  decode(value: Uint8Array | Error, visit: (offset: number, value: ColumnValue) => void): void;
}

/** What a commit changes in one column. */
export class ColumnDraft {
  readonly #column: DraftedColumn;
  readonly #cached: ColumnLike | undefined;
  readonly #chunks = new Map<number, Map<number, ColumnValue | undefined>>();
  readonly #stored = new Map<number, Map<number, ColumnValue>>();

  constructor(column: DraftedColumn) {
    this.#column = column;
    this.#cached = column.slot.resident;
  }

  set(document: number, value: ColumnValue | undefined): void {
    const chunk = document >>> COLUMN_CHUNK_SHIFT;
    const values = this.#chunks.get(chunk);
    if (values !== undefined) values.set(document & OFFSET_MASK, value);
    else this.#chunks.set(chunk, new Map([[document & OFFSET_MASK, value]]));
  }

  /** What has to be read from the store before {@link finish}; undefined when all is in memory. */
  needs(): NeededRecords | undefined {
    if (this.#cached !== undefined) return undefined;
    const chunks = [...this.#chunks.keys()];
    return {
      count: chunks.length,
      keys: (from, to) => chunks.slice(from, to).map((chunk) => this.#column.keyOf(chunk)),
      take: (records, from) => {
        for (const [at, record] of records.entries()) {
          const values = new Map<number, ColumnValue>();
          if (record !== undefined) this.#column.decode(record, (offset, value) => values.set(offset, value));
          this.#stored.set(chunks[from + at] ?? 0, values);
        }
      },
    };
  }

  /** Adds the records to the batch; what is returned changes the cached copy, once they are durable. */
  finish(batch: KeyValueChange[]): () => void {
    const changes: ColumnChange[] = [];
    for (const [chunk, values] of this.#chunks) {
      const first = chunk * COLUMN_CHUNK_DOCUMENTS;
      const stored = this.#stored.get(chunk);
      const before = (offset: number) =>
        this.#cached === undefined ? stored?.get(offset) : this.#cached.valueOf(first + offset);
      const record = encodeColumnChunk((offset) => (values.has(offset) ? values.get(offset) : before(offset)));
      const key = this.#column.keyOf(chunk);
      if (record !== undefined) batch.push({ type: "put", key, value: record });
      else batch.push({ type: "del", key });
      for (const [offset, value] of values) changes.push({ document: first + offset, value });
    }
    return () => this.#column.slot.apply(changes);
  }
}
