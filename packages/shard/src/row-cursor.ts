import type { KeyValueReader } from "@shoal/kv";
import { type ObjectId, objectIdFromBytes, ShoalError } from "@shoal/model";
import type { Change } from "@shoal/replication";
import { changedObjects } from "./changed-objects.js";
import { rowKey, rowRange } from "./key-layout.js";
import type { OwnCopy } from "./own-copy.js";
import { RowView } from "./row.js";

export interface RowCursor {
  /**
   * The next rows, in the order of their ids, of about so many bytes, one at least. The first ones come with the sequence at which the
   * objects were listed, the others with the one that all rows until now may be as new as; then the last ones may be none.
   * Infinity: all rows, as they are at one moment. Fails with `dataLoss` when a row is damaged.
   */
  next(bytesMax: number): Promise<{
    readonly rows: readonly Change[];
    readonly isLast: boolean;
    readonly sequence: number;
  }>;
  close(): void;
}

export interface RowSelection {
  /** Objects that the journal names after it. */
  readonly after: number;
  /** All objects that are there, and nothing else. */
  readonly isFull: boolean;
  readonly documents: readonly string[];
}

export interface StoredRowsOptions extends RowSelection {
  readonly store: KeyValueReader;
  readonly copy: OwnCopy;
  readonly place: string;
}

/** Rows of unknown size are read so many at once, then as many as the mean of the others allows. */
const ROWS_AT_FIRST = 16;
const ROWS_MAX = 512;

/** The rows of some or all objects, read page by page while commits go on. */
export class StoredRows implements RowCursor {
  readonly #options: StoredRowsOptions;
  /** Where the journal ended when the objects were listed. */
  #start: number | undefined;
  /** Sorted; what is changed after `#start` is told by the journal. */
  #ids: readonly ObjectId[] = [];
  #next = 0;
  /** Of all rows: the next one's key is at or above it. */
  #from: Uint8Array | undefined;
  #read = { rows: 0, bytes: 0 };

  constructor(options: StoredRowsOptions) {
    this.#options = options;
  }

  async next(bytesMax: number): ReturnType<RowCursor["next"]> {
    if (Number.isFinite(bytesMax)) return this.#page(bytesMax);
    for (;;) {
      // Not alone, as writes are: the commit that is under way may wait for the copy that gets these rows.
      await this.#options.copy.written();
      this.#start = undefined;
      const page = await this.#page(bytesMax);
      if (page.isLast) return page;
    }
  }

  close(): void {
    this.#ids = [];
    this.#from = undefined;
  }

  async #page(bytesMax: number): ReturnType<RowCursor["next"]> {
    const { copy, isFull } = this.#options;
    const isFirst = this.#start === undefined;
    this.#start ??= await this.#list();
    const rows = isFull ? await this.#readAll(bytesMax) : await this.#readListed(bytesMax);
    const isLast = isFull ? this.#from === undefined : this.#next >= this.#ids.length;
    const { writtenTo } = copy;
    if (!isFirst) return { rows, isLast, sequence: writtenTo };
    // The first page says where the journal ended, the last one how new the rows may be: one page says both only while that is the same.
    return { rows, isLast: isLast && writtenTo === this.#start, sequence: this.#start };
  }

  async #list(): Promise<number> {
    const { store, copy, after, isFull, documents } = this.#options;
    const start = copy.state.end.sequence;
    this.#next = 0;
    if (isFull) this.#from = rowRange().gte;
    else this.#ids = [...new Set([...(await changedObjects(store, after)), ...documents])].sort() as ObjectId[];
    return start;
  }

  async #readListed(bytesMax: number): Promise<readonly Change[]> {
    const rows: Change[] = [];
    let bytes = 0;
    while (this.#next < this.#ids.length && (bytes < bytesMax || rows.length === 0)) {
      const ids = this.#ids.slice(this.#next, this.#next + this.#rowsFor(bytesMax - bytes));
      const values = await this.#options.store.getMany(ids.map(rowKey));
      for (const [at, id] of ids.entries()) {
        const row = this.#row(id, values[at]);
        rows.push({ document: id, row });
        bytes += this.#count(row);
      }
      this.#next += ids.length;
    }
    return rows;
  }

  async #readAll(bytesMax: number): Promise<readonly Change[]> {
    const rows: Change[] = [];
    let bytes = 0;
    while (this.#from !== undefined && (bytes < bytesMax || rows.length === 0)) {
      const limit = this.#rowsFor(bytesMax - bytes);
      let read = 0;
      for await (const chunk of this.#options.store.scan({ ...rowRange(), gte: this.#from, limit })) {
        for (const { key, value } of chunk) {
          const id = objectIdFromBytes(key.subarray(1));
          const row = this.#row(id, value);
          rows.push({ document: id, row });
          bytes += this.#count(row);
          this.#from = Buffer.concat([key, Uint8Array.of(0)]);
        }
        read += chunk.length;
      }
      if (read < limit) this.#from = undefined;
    }
    return rows;
  }

  #row(id: ObjectId, value: Uint8Array | Error | undefined): Buffer | undefined {
    if (value === undefined) return undefined;
    if (value instanceof ShoalError && value.code !== "dataLoss") throw value;
    const row = value instanceof Error ? undefined : RowView.of(value);
    if (row !== undefined) return row.bytes;
    const { place } = this.#options;
    throw new ShoalError("dataLoss", `object '${id}' of ${place} is damaged: no copy is made of it`, { cause: value });
  }

  #count(row: Buffer | undefined): number {
    this.#read.rows += 1;
    this.#read.bytes += row?.length ?? 0;
    return row?.length ?? 1;
  }

  #rowsFor(bytes: number): number {
    if (this.#read.rows === 0) return ROWS_AT_FIRST;
    const mean = Math.max(1, this.#read.bytes / this.#read.rows);
    return Math.min(ROWS_MAX, Math.max(1, Math.ceil(bytes / mean)));
  }
}
