import type { KeyValueReader } from "@shoal/kv";
import { type ObjectId, ShoalError } from "@shoal/model";
import type { IdTable } from "./id-table.js";
import { rowKey } from "./key-layout.js";
import { RowView } from "./row.js";
import type { RowCache } from "./row-cache.js";

export interface RowReaderOptions {
  readonly store: KeyValueReader;
  readonly table: IdTable;
  readonly cache: RowCache;
  /** Names the shard in messages. */
  readonly place: string;
  /** Resolves when the commit that is under way is applied. */
  readonly commitUnderWay: () => Promise<void>;
}

/** An object and its document at the time of the call. */
export interface FoundObject {
  readonly id: ObjectId;
  /** -1: the table has no such object. */
  readonly document: number;
}

interface WaitingRow extends FoundObject {
  readonly answer: (RowView | undefined)[];
  readonly at: number;
}

/** The reads of one turn of the event loop: one call into the store. */
class ReadBatch {
  readonly rows: WaitingRow[] = [];
  /** Documents that were written while this was being read: their rows may be old. */
  readonly written = new Set<number>();
  readonly done: Promise<void>;

  constructor(start: (batch: ReadBatch) => Promise<void>) {
    this.done = new Promise<void>((resolve) => setImmediate(resolve)).then(() => start(this));
  }
}

/** Rows by id: which there are is known from the table, what they hold comes from the cache or the store. */
export class RowReader {
  readonly #options: RowReaderOptions;
  readonly #running = new Set<ReadBatch>();
  #next: ReadBatch | undefined;

  constructor(options: RowReaderOptions) {
    this.#options = options;
  }

  /**
   * One row an object, undefined when it has been deleted since its document was looked up, or when that is -1. A row
   * from the cache has no vector, so ask for it `withVectors`. Fails with `dataLoss` when a row is damaged or missing.
   */
  async read(objects: readonly FoundObject[], withVectors: boolean): Promise<readonly (RowView | undefined)[]> {
    const { cache, table } = this.#options;
    const answer: (RowView | undefined)[] = [];
    let batch: ReadBatch | undefined;
    for (const { id, document } of objects) {
      const cached = withVectors || document < 0 ? undefined : cache.get(document);
      if (cached === undefined && (document >= 0 || table.doubtful)) {
        batch ??= this.#next ??= this.#newBatch();
        batch.rows.push({ id, document, answer, at: answer.length });
      }
      answer.push(cached);
    }
    if (batch === undefined) return answer;
    await batch.done;
    const faults = this.#faults.get(answer);
    if (faults !== undefined) await this.#confirm(faults);
    return answer;
  }

  /** Whether the store has a row of an object that the table lacks, or had one before damage. */
  async mayHave(id: ObjectId): Promise<boolean> {
    const [value] = await this.#options.store.getMany([rowKey(id)]);
    if (value instanceof ShoalError && value.code !== "dataLoss") throw value;
    return value !== undefined;
  }

  /**
   * To be called when the commit that wrote these documents is applied. Rows that are at hand go to the cache: what was
   * written lately is read soon.
   */
  rowsWritten(documents: readonly number[], row: (at: number) => RowView | undefined): void {
    for (const [at, document] of documents.entries()) {
      this.#options.cache.remove(document);
      const written = row(at);
      if (written !== undefined) this.#options.cache.put(document, written);
      for (const batch of this.#running) batch.written.add(document);
    }
  }

  /** Rows that the store did not have or could not read, by the answer that lacks them. */
  readonly #faults = new WeakMap<(RowView | undefined)[], { row: WaitingRow; fault: Error | undefined }[]>();

  #newBatch(): ReadBatch {
    return new ReadBatch((batch) => this.#run(batch));
  }

  async #run(batch: ReadBatch): Promise<void> {
    this.#next = undefined;
    this.#running.add(batch);
    try {
      const values = await this.#options.store.getMany(batch.rows.map((row) => rowKey(row.id)));
      for (const [index, row] of batch.rows.entries()) this.#take(batch, row, values[index]);
    } finally {
      this.#running.delete(batch);
    }
  }

  #take(batch: ReadBatch, row: WaitingRow, value: Uint8Array | Error | undefined): void {
    const read = value === undefined || value instanceof Error ? undefined : RowView.of(value);
    if (read === undefined) {
      if (value === undefined && row.document < 0) return;
      const fault = value instanceof Error || value === undefined ? value : new Error("it cannot be read");
      const faults = this.#faults.get(row.answer);
      if (faults === undefined) this.#faults.set(row.answer, [{ row, fault }]);
      else faults.push({ row, fault });
      return;
    }
    row.answer[row.at] = read;
    if (row.document >= 0 && !batch.written.has(row.document)) this.#options.cache.put(row.document, read);
  }

  /** A row that is not there is right when the object has been deleted meanwhile, and damage otherwise. */
  async #confirm(faults: readonly { row: WaitingRow; fault: Error | undefined }[]): Promise<void> {
    const { store, table, commitUnderWay } = this.#options;
    for (const { row, fault } of faults) {
      if (fault !== undefined) throw this.#damage(row.id, fault);
      await commitUnderWay();
      if (table.find(row.id) < 0) continue;
      const [value] = await store.getMany([rowKey(row.id)]);
      const read = value === undefined || value instanceof Error ? undefined : RowView.of(value);
      if (read === undefined && table.find(row.id) >= 0) throw this.#damage(row.id, value);
      row.answer[row.at] = read;
    }
  }

  #damage(id: ObjectId, value: unknown): ShoalError {
    const cause = value instanceof Error ? value : undefined;
    if (cause instanceof ShoalError && cause.code !== "dataLoss") return cause;
    const reason = cause?.message ?? "its row is missing";
    return new ShoalError("dataLoss", `object '${id}' of ${this.#options.place} is damaged: ${reason}`, { cause });
  }
}
