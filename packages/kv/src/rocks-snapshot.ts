import { ShoalError } from "@shoal/model";
import { checkKey, checkRange, KEY_BYTES_MAX } from "./batch-check.js";
import type { KeyRange, KeyValueEntry, KeyValueReader } from "./key-value-store.js";
import { openRecord } from "./record-envelope.js";
import type { RawChunk, RocksConnection, RocksIterator } from "./rocks-connection.js";
import { readError } from "./rocks-error.js";
import { type OnDamaged, RecordOpener, SCAN_CHUNK_BYTES } from "./rocks-scan.js";

/** Behind every key. */
const AFTER_ALL_KEYS = Buffer.alloc(KEY_BYTES_MAX + 1, 0xff);

/** Iterators that were made between the same two commits: they pin one state. */
export interface PinnedIterators {
  readonly forward: RocksIterator;
  readonly backward: RocksIterator;
}

export function pinIterators(connection: RocksConnection): PinnedIterators {
  const highWaterMark = SCAN_CHUNK_BYTES;
  return {
    forward: connection.iterate({ highWaterMark }),
    backward: connection.iterate({ highWaterMark, reverse: true }),
  };
}

/**
 * Reads of a pinned state. The addon has no snapshot for gets: they are seeks on the pinned iterator, one at a time, and
 * the seek runs on the calling thread.
 */
export class RocksSnapshot implements KeyValueReader, AsyncDisposable {
  #disposed = false;
  #turn: Promise<unknown>;
  readonly #folder: string;
  readonly #pinned: Promise<PinnedIterators>;

  /** `pinned` resolves at the next boundary between two commits. */
  constructor(folder: string, pinned: Promise<PinnedIterators>) {
    this.#folder = folder;
    this.#pinned = pinned;
    this.#turn = pinned.catch(() => {});
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    checkKey(key);
    const found = await this.#inTurn(({ forward }) => seekKey(forward, key));
    if (found instanceof ShoalError) throw found;
    return found;
  }

  async getMany(keys: readonly Uint8Array[]): Promise<readonly (Uint8Array | undefined | Error)[]> {
    for (const key of keys) checkKey(key);
    return this.#inTurn(async ({ forward }) => {
      const found: (Uint8Array | undefined | Error)[] = [];
      for (const key of keys) found.push(await seekKey(forward, key).catch((error) => this.#translated(error)));
      return found;
    });
  }

  scan(range: KeyRange, onDamaged?: OnDamaged): AsyncIterable<readonly KeyValueEntry[]> {
    checkRange(range);
    return { [Symbol.asyncIterator]: () => this.#chunks(range, onDamaged) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    const pinned = await this.#pinned.catch(() => undefined);
    await this.#turn.catch(() => {});
    pinned?.forward.end();
    pinned?.backward.end();
  }

  async *#chunks(range: KeyRange, onDamaged: OnDamaged | undefined): AsyncGenerator<readonly KeyValueEntry[]> {
    const opener = new RecordOpener(range.limit, onDamaged);
    const reverse = range.reverse ?? false;
    const bound = reverse ? range.gte : range.lt;
    let from: Uint8Array | undefined = reverse ? (range.lt ?? AFTER_ALL_KEYS) : (range.gte ?? new Uint8Array(1));
    if (range.limit === 0 || range.lt?.length === 0) from = undefined;
    if (!reverse && range.gte?.length === 0) from = new Uint8Array(1);
    while (from !== undefined && !opener.isDone) {
      const start: Uint8Array = from;
      const parts = await this.#inTurn((pinned) => readChunk(reverse ? pinned.backward : pinned.forward, start));
      // Backward, the entry at the start is not in the range.
      const inside = (key: Buffer) => !(reverse ? isBelow(key, bound) || key.equals(start) : isAtLeast(key, bound));
      const chunk = parts.flatMap((part) => opener.open(part, inside));
      from = opener.isDone ? undefined : nextStart(parts, reverse, bound);
      if (chunk.length > 0) yield chunk;
      if (opener.failure !== undefined) throw opener.failure;
    }
  }

  /** Runs `use` when those before it are done. */
  #inTurn<T>(use: (pinned: PinnedIterators) => Promise<T>): Promise<T> {
    if (this.#disposed) return Promise.reject(new ShoalError("unavailable", "snapshot is disposed of"));
    const result = this.#turn.then(async () => {
      const pinned = await this.#pinned;
      if (pinned.forward.isOver) {
        throw new ShoalError(
          "unavailable",
          `snapshot of store ${this.#folder} ended: the store was closed or reopened`,
        );
      }
      return use(pinned).catch((error) => Promise.reject(this.#translated(error)));
    });
    this.#turn = result.catch(() => {});
    return result;
  }

  #translated(error: unknown): ShoalError {
    return error instanceof ShoalError ? error : readError(this.#folder, ShoalError.from(error));
  }
}

async function seekKey(iterator: RocksIterator, key: Uint8Array): Promise<Uint8Array | undefined | ShoalError> {
  iterator.seek(key);
  const raw = await iterator.next();
  if (raw.size === 0 || Buffer.compare(raw.key(0), key) !== 0) return undefined;
  return openRecord(key, raw.value(0));
}

/** The entry at `start` and those after it in the iterator's direction. */
async function readChunk(iterator: RocksIterator, start: Uint8Array): Promise<RawChunk[]> {
  iterator.seek(start);
  const first = await iterator.next();
  return first.finished ? [first] : [first, await iterator.next()];
}

/** Where the next chunk begins; undefined at the end of the range. */
function nextStart(
  parts: readonly RawChunk[],
  reverse: boolean,
  bound: Uint8Array | undefined,
): Uint8Array | undefined {
  const last = parts.at(-1);
  if (last === undefined || last.finished) return undefined;
  const filled = parts.findLast((part) => part.size > 0);
  if (filled === undefined) return undefined;
  const key = filled.key(filled.size - 1);
  if (reverse) return isBelow(key, bound) ? undefined : key;
  return isAtLeast(key, bound) ? undefined : Buffer.concat([key, new Uint8Array(1)]);
}

function isBelow(key: Uint8Array, bound: Uint8Array | undefined): boolean {
  return bound !== undefined && Buffer.compare(key, bound) < 0;
}

function isAtLeast(key: Uint8Array, bound: Uint8Array | undefined): boolean {
  return bound !== undefined && Buffer.compare(key, bound) >= 0;
}
