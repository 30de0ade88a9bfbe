import type { KeyValueReader } from "@shoal/kv";
import { type ObjectId, ShoalError } from "@shoal/model";
import { Gate, InFlight } from "@shoal/runtime";
import type { IdTable } from "./id-table.js";
import { rowKey } from "./key-layout.js";
import { RowView } from "./row.js";
import type { RowCache } from "./row-cache.js";
import { RowSizes } from "./row-sizes.js";

export interface RowReaderOptions {
  readonly store: KeyValueReader;
  readonly table: IdTable;
  readonly cache: RowCache;
  /** Bounds the bytes of reads under way, together with those of other shards. */
  readonly gate: Gate;
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

/** Called when the store is about to be asked for about so many bytes. The read fails with what it throws. */
export type AdmitRead = (bytes: number, hasWaited: boolean) => void;

interface Fault {
  readonly row: WaitingRow;
  /** Undefined: the store has no such row. */
  readonly fault: Error | undefined;
}

/** One call that needs the store. */
class Reading {
  readonly result: (RowView | undefined)[] = [];
  readonly rows: WaitingRow[] = [];
  readonly faults: Fault[] = [];
  /** What keeps it from being read. */
  refusal: { readonly thrown: unknown } | undefined;

  constructor(readonly admit: AdmitRead | undefined) {}
}

interface WaitingRow extends FoundObject {
  readonly reading: Reading;
  readonly at: number;
}

/** The reads of one iteration of the event loop, up to some bytes: one call into the store. */
class ReadBatch {
  readonly readings: Reading[] = [];
  /** How large its rows may be. */
  bytes = 0;
  /** Documents that were written while this was being read: their rows may be old. */
  readonly written = new Set<number>();
  readonly done: Promise<void>;

  constructor(start: (batch: ReadBatch) => Promise<void>) {
    this.done = new Promise<void>((resolve) => setImmediate(resolve)).then(() => start(this));
  }
}

/** A call into the store is shared up to so many bytes. */
const BATCH_BYTES_MAX = 32 * 1024 * 1024;

/** What the reads of all shards of a process may bring at the same time. */
const READ_BYTES_MAX = 64 * 1024 * 1024;

/** Reads of less never wait. */
const SMALL_READ_BYTES = 1024 * 1024;

/** A read is of many calls: none of them ends it. */
const NO_BOUNDS = {};

/** What a row of unknown size counts as at least: a page of 25 is read at once, and a batch has 32 of them. */
const UNKNOWN_ROW_BYTES = 1024 * 1024;

/** Where large reads wait while others bring much: those of all shards that share it, in the order of the calls. */
export function rowReadGate(bytesMax = READ_BYTES_MAX): Gate {
  return new Gate({ max: bytesMax });
}

/** Rows by id: which there are is known from the table, what they hold comes from the cache or the store. */
export class RowReader {
  readonly #options: RowReaderOptions;
  readonly #sizes = new RowSizes();
  readonly #running = new InFlight<ReadBatch>();
  #next: ReadBatch | undefined;

  constructor(options: RowReaderOptions) {
    this.#options = options;
  }

  /** How large the row of a document may be; more than its size when that is not known. */
  likelyBytes(document: number): number {
    return this.#sizes.bytesOf(document) ?? Math.max(UNKNOWN_ROW_BYTES, this.#sizes.meanBytes);
  }

  /**
   * One row an object, undefined when it has been deleted since its document was looked up, or when that is -1. A row
   * from the cache has no vector, so ask for it `withVectors`. Fails with `dataLoss` when a row is damaged or missing.
   * No promise when all are at hand.
   */
  read(
    objects: readonly FoundObject[],
    withVectors: boolean,
    admit?: AdmitRead,
  ): readonly (RowView | undefined)[] | Promise<readonly (RowView | undefined)[]> {
    const { cache, table } = this.#options;
    const reading = new Reading(admit);
    const { result } = reading;
    let bytes = 0;
    for (const { id, document } of objects) {
      const cached = withVectors || document < 0 ? undefined : cache.get(document);
      if (cached === undefined && (document >= 0 || table.doubtful)) {
        reading.rows.push({ id, document, reading, at: result.length });
        bytes += this.likelyBytes(document);
      }
      result.push(cached);
    }
    return reading.rows.length === 0 ? result : this.#readFromStore(reading, bytes);
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
    const running = this.#running.size === 0 ? [] : Array.from(this.#running, ([, batch]) => batch);
    for (const [at, document] of documents.entries()) {
      this.#options.cache.remove(document);
      const written = row(at);
      if (written !== undefined) {
        this.#options.cache.put(document, written);
        this.#sizes.saw(document, written.bytes.length);
      } else this.#sizes.forget(document);
      for (const batch of running) batch.written.add(document);
    }
  }

  async #readFromStore(reading: Reading, bytes: number): Promise<readonly (RowView | undefined)[]> {
    const batch = this.#batchFor(bytes);
    batch.readings.push(reading);
    await batch.done;
    if (reading.refusal !== undefined) throw reading.refusal.thrown;
    if (reading.faults.length > 0) await this.#confirm(reading.faults);
    return reading.result;
  }

  #batchFor(bytes: number): ReadBatch {
    let batch = this.#next;
    if (batch === undefined || batch.bytes + bytes > BATCH_BYTES_MAX) {
      batch = new ReadBatch((started) => this.#run(started));
      this.#next = batch;
    }
    batch.bytes += bytes;
    return batch;
  }

  #run(batch: ReadBatch): Promise<void> {
    if (this.#next === batch) this.#next = undefined;
    const { gate } = this.#options;
    if (batch.bytes <= SMALL_READ_BYTES) return this.#readBatch(batch, false);
    const mustWait = gate.mustWait(batch.bytes);
    return gate.run(batch.bytes, NO_BOUNDS, () => this.#readBatch(batch, mustWait));
  }

  async #readBatch(batch: ReadBatch, hasWaited: boolean): Promise<void> {
    const number = this.#running.add(batch);
    try {
      const rows: WaitingRow[] = [];
      for (const reading of batch.readings) if (this.#admit(reading, hasWaited)) rows.push(...reading.rows);
      if (rows.length === 0) return;
      const values = await this.#options.store.getMany(rows.map((row) => rowKey(row.id)));
      for (const [index, row] of rows.entries()) this.#take(batch, row, values[index]);
    } finally {
      this.#running.remove(number);
    }
  }

  #admit(reading: Reading, hasWaited: boolean): boolean {
    const { admit, rows } = reading;
    if (admit === undefined) return true;
    let bytes = 0;
    for (const { document } of rows) bytes += this.#sizes.bytesOf(document) ?? this.#sizes.meanBytes;
    try {
      admit(bytes, hasWaited);
      return true;
    } catch (thrown) {
      reading.refusal = { thrown };
      return false;
    }
  }

  #take(batch: ReadBatch, row: WaitingRow, value: Uint8Array | Error | undefined): void {
    const { reading, document } = row;
    const read = value === undefined || value instanceof Error ? undefined : RowView.of(value);
    if (read === undefined) {
      if (value === undefined && document < 0) return;
      const fault = value instanceof Error || value === undefined ? value : new Error("it cannot be read");
      reading.faults.push({ row, fault });
      return;
    }
    reading.result[row.at] = read;
    // An object that was deleted and created again meanwhile has another document; its old one may be another object's.
    if (document < 0 || read.document !== document || batch.written.has(document)) return;
    this.#sizes.saw(document, read.bytes.length);
    this.#options.cache.put(document, read);
  }

  /** A row that is not there is right when the object has been deleted meanwhile, and damage otherwise. */
  async #confirm(faults: readonly Fault[]): Promise<void> {
    const { store, table, commitUnderWay } = this.#options;
    for (const { row, fault } of faults) {
      if (fault !== undefined) throw this.#damage(row.id, fault);
      await commitUnderWay();
      if (table.find(row.id) < 0) continue;
      const [value] = await store.getMany([rowKey(row.id)]);
      const read = value === undefined || value instanceof Error ? undefined : RowView.of(value);
      if (read === undefined && table.find(row.id) >= 0) throw this.#damage(row.id, value);
      row.reading.result[row.at] = read;
    }
  }

  #damage(id: ObjectId, value: unknown): ShoalError {
    const cause = value instanceof Error ? value : undefined;
    if (cause instanceof ShoalError && cause.code !== "dataLoss") return cause;
    const reason = cause?.message ?? "its row is missing";
    return new ShoalError("dataLoss", `object '${id}' of ${this.#options.place} is damaged: ${reason}`, { cause });
  }
}
