import { ShoalError } from "@shoal/model";
import {
  type BatchContext,
  type DbContext,
  type DbOptions,
  type IteratorContext,
  type IteratorOptions,
  rocksBinding,
} from "./rocks-binding.js";
import { diskReaders } from "./thread-lanes.js";

/**
 * One open RocksDB. Refuses what the addon would not survive: use after close. Errors are those of RocksDB. Reads wait for a place among
 * those of their disk (`disk`, a device number).
 */
export class RocksConnection {
  #closing: Promise<void> | undefined;
  readonly #db: DbContext;

  private constructor(
    readonly folder: string,
    readonly disk: number,
    db: DbContext,
  ) {
    this.#db = db;
  }

  static async open(folder: string, disk: number, options: DbOptions): Promise<RocksConnection> {
    const db = rocksBinding.db_init();
    await new Promise<void>((resolve, reject) => {
      rocksBinding.db_open(db, folder, options, (error) => (error ? reject(error) : resolve()));
    });
    return new RocksConnection(folder, disk, db);
  }

  /** Values in the order of the keys, of one state. No key is empty. */
  getMany(keys: readonly Uint8Array[]): Promise<(Buffer | undefined)[]> {
    this.#opened();
    return diskReaders.run(this.disk, () => {
      const db = this.#opened();
      return new Promise((resolve, reject) => {
        rocksBinding.db_get_many(db, keys, {}, (error, values) => (error ? reject(error) : resolve(values)));
      });
    });
  }

  startBatch(): RocksBatch {
    return new RocksBatch(rocksBinding.batch_init(this.#opened()), () => this.#opened());
  }

  /** An iterator over the state of now. */
  iterate(options: IteratorOptions): RocksIterator {
    const iterator = rocksBinding.iterator_init(this.#opened(), options);
    return new RocksIterator(iterator, this.disk, () => this.#closing !== undefined);
  }

  /** A property of RocksDB, `rocksdb.…`; empty when it is unknown. */
  property(name: string): string {
    return rocksBinding.db_get_property(this.#opened(), name);
  }

  /** Writes memtables to files and merges files in the range. */
  compact(start: Uint8Array, end: Uint8Array): Promise<void> {
    const db = this.#opened();
    return new Promise((resolve, reject) => {
      rocksBinding.db_compact_range(db, start, end, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Waits for what is under way and ends the iterators. */
  close(): Promise<void> {
    this.#closing ??= new Promise((resolve, reject) => {
      rocksBinding.db_close(this.#db, (error) => (error ? reject(error) : resolve()));
    });
    return this.#closing;
  }

  #opened(): DbContext {
    if (this.#closing !== undefined) throw closedError(this.folder);
    return this.#db;
  }
}

export function closedError(folder: string): ShoalError {
  return new ShoalError("unavailable", `store ${folder} is closed`);
}

/** Changes that are written as one, on the connection that started it. */
export class RocksBatch {
  readonly #batch: BatchContext;
  readonly #checkOpen: () => void;

  constructor(batch: BatchContext, checkOpen: () => void) {
    this.#batch = batch;
    this.#checkOpen = checkOpen;
  }

  put(key: Uint8Array, value: Uint8Array): void {
    rocksBinding.batch_put(this.#batch, key, value);
  }

  del(key: Uint8Array): void {
    rocksBinding.batch_del(this.#batch, key);
  }

  async write(sync: boolean): Promise<void> {
    this.#checkOpen();
    await new Promise<void>((resolve, reject) => {
      rocksBinding.batch_write(this.#batch, { sync }, (error) => (error ? reject(error) : resolve()));
    });
  }
}

/** Entries as the addon gives them: `key(i)`, `value(i)` in the order of the keys. */
export class RawChunk {
  readonly #reversed: readonly Buffer[];

  constructor(
    reversed: readonly Buffer[],
    readonly finished: boolean,
  ) {
    this.#reversed = reversed;
  }

  get size(): number {
    return this.#reversed.length >>> 1;
  }

  key(index: number): Buffer {
    return this.#at(this.#reversed.length - 1 - 2 * index);
  }

  value(index: number): Buffer {
    return this.#at(this.#reversed.length - 2 - 2 * index);
  }

  #at(position: number): Buffer {
    const bytes = this.#reversed[position];
    if (bytes === undefined) throw new RangeError(`chunk of ${this.size} entries has none there`);
    return bytes;
  }
}

/** One call at a time. */
export class RocksIterator {
  #ended = false;
  readonly #iterator: IteratorContext;
  readonly #disk: number;
  readonly #closed: () => boolean;

  constructor(iterator: IteratorContext, disk: number, closed: () => boolean) {
    this.#iterator = iterator;
    this.#disk = disk;
    this.#closed = closed;
  }

  /** Whether it cannot be asked any more. */
  get #isOver(): boolean {
    return this.#ended || this.#closed();
  }

  next(): Promise<RawChunk> {
    return diskReaders.run(this.#disk, () => {
      if (this.#isOver) throw new ShoalError("unavailable", "the store of this iterator was closed");
      return new Promise((resolve, reject) => {
        rocksBinding.iterator_next(this.#iterator, (error, reversed, finished) => {
          if (error) reject(error);
          else resolve(new RawChunk(reversed, finished));
        });
      });
    });
  }

  /** Lets go of the snapshot, in the background. */
  end(): void {
    if (this.#isOver) return;
    this.#ended = true;
    rocksBinding.iterator_end(this.#iterator, () => {});
  }
}
