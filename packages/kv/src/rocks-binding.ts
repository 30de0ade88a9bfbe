import { createRequire } from "node:module";

/** Opaque handles of the addon. */
export type DbContext = { readonly brand: "db" };
export type BatchContext = { readonly brand: "batch" };
export type IteratorContext = { readonly brand: "iterator" };

type Done = (error: Error | null | undefined) => void;

/** Options of `db_open`. Sizes are bytes below 2^32. */
export interface DbOptions {
  readonly createIfMissing: boolean;
  readonly compression: boolean;
  readonly cacheSize: number;
  readonly writeBufferSize: number;
  readonly blockSize: number;
  readonly maxOpenFiles: number;
}

/** Options of `iterator_init`. An empty bound counts as absent. */
export interface IteratorOptions {
  readonly gte?: Uint8Array;
  readonly lt?: Uint8Array;
  readonly limit?: number;
  /** A call of `iterator_next` ends after so many bytes of keys and values. */
  readonly highWaterMark?: number;
}

/**
 * The addon of package `rocksdb` 5.2.1 (`binding.cc`) below its LevelDOWN shell, which copies every operation once
 * more. It checks nothing: a call on a context that is closed ends the process. Only `RocksConnection` calls it.
 */
export interface RocksBinding {
  db_init(): DbContext;
  db_open(db: DbContext, folder: string, options: DbOptions, done: Done): void;
  /** Ends the open iterators and waits for what is under way. */
  db_close(db: DbContext, done: Done): void;
  /** Skips empty keys: the caller refuses them. One snapshot for all keys. */
  db_get_many(
    db: DbContext,
    keys: readonly Uint8Array[],
    options: object,
    done: (error: Error | null, values: (Buffer | undefined)[]) => void,
  ): void;
  db_get_property(db: DbContext, property: string): string;
  db_compact_range(db: DbContext, start: Uint8Array, end: Uint8Array, done: Done): void;
  batch_init(db: DbContext): BatchContext;
  /** Copies both. */
  batch_put(batch: BatchContext, key: Uint8Array, value: Uint8Array): void;
  batch_del(batch: BatchContext, key: Uint8Array): void;
  batch_write(batch: BatchContext, options: { readonly sync: boolean }, done: Done): void;
  /** Pins a snapshot at once. */
  iterator_init(db: DbContext, options: IteratorOptions): IteratorContext;
  /**
   * Values and keys in turn, last entry first. The first call gives one entry. `finished`: there
   * is nothing after these.
   */
  iterator_next(
    iterator: IteratorContext,
    done: (error: Error | null, reversed: readonly Buffer[], finished: boolean) => void,
  ): void;
  iterator_end(iterator: IteratorContext, done: Done): void;
}

export const rocksBinding = createRequire(import.meta.url)("rocksdb/binding.js") as RocksBinding;
