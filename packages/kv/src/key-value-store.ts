/**
 * One change of a batch. Keys order bytewise and have 1 to 65,536 bytes; keys and values are copied before `write`
 * returns its promise.
 */
export type KeyValueChange =
  | { readonly type: "put"; readonly key: Uint8Array; readonly value: Uint8Array }
  | { readonly type: "del"; readonly key: Uint8Array };

export interface WriteOptions {
  /**
   * True (the default): the promise resolves after the batch is on stable storage (fdatasync). Batches that are
   * written while another one is being synced share the next sync, in the order of the calls.
   */
  readonly sync?: boolean;
}

/** Half-open range of keys, `gte <= key < lt`. A missing bound is open. */
export interface KeyRange {
  readonly gte?: Uint8Array;
  readonly lt?: Uint8Array;
  /** At most so many entries. */
  readonly limit?: number;
}

export interface KeyValueEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** What can be read. Every value is checked against its checksum on every read, scans included. */
export interface KeyValueReader {
  /** Fails with `dataLoss`, naming the key in hex, when the record is damaged. */
  get(key: Uint8Array): Promise<Uint8Array | undefined>;
  /** As `get`, one result a key in the order of the keys; a damaged record is a ShoalError in its place. */
  getMany(keys: readonly Uint8Array[]): Promise<readonly (Uint8Array | undefined | Error)[]>;
  /**
   * Entries of a consistent snapshot, in chunks of at least one entry, in key order; the snapshot is taken when the
   * iteration begins. A damaged record ends the scan with `dataLoss`, after the entries before it, unless `onDamaged`
   * is given: then the record is reported there, left out, and does not count for the limit.
   */
  scan(range: KeyRange, onDamaged?: (key: Uint8Array) => void): AsyncIterable<readonly KeyValueEntry[]>;
}

/**
 * Ordered bytes with atomic, durable batches. The value that is stored is an envelope: format byte, xxh3-64 of key and
 * payload, payload; the caller sees payloads only.
 */
export interface KeyValueStore extends KeyValueReader, AsyncDisposable {
  /**
   * All of the batch or nothing. Fails with `unavailable` while the disk is full or faulty; nothing is written then. Only
   * of the write at which a disk fails (in the middle of a sync) nobody knows: it may be there when the store is opened
   * again. Fails with `overloaded` when too many writes wait already.
   */
  write(batch: readonly KeyValueChange[], options?: WriteOptions): Promise<void>;
}
