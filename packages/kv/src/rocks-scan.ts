import { ShoalError } from "@shoal/model";
import type { KeyRange, KeyValueEntry } from "./key-value-store.js";
import { openRecord } from "./record-envelope.js";
import type { IteratorOptions } from "./rocks-binding.js";
import type { RawChunk, RocksConnection } from "./rocks-connection.js";
import { readError } from "./rocks-error.js";

/** Bytes of a chunk of a scan, about. */
const SCAN_CHUNK_BYTES = 64 * 1024;

/** Called with the key of a damaged record. */
type OnDamaged = (key: Uint8Array) => void;

/**
 * Entries of `range` from an iterator of its own, which is ended with the scan. Blocks that are read here do not go to
 * the block cache: the addon's iterator does not verify their checksums, and a get would trust them there.
 */
export async function* scanConnection(
  connect: () => Promise<RocksConnection>,
  range: KeyRange,
  onDamaged: OnDamaged | undefined,
): AsyncGenerator<readonly KeyValueEntry[]> {
  const connection = await connect();
  if (range.limit === 0 || range.lt?.length === 0) return;
  const opener = new RecordOpener(range.limit, onDamaged);
  const iterator = connection.iterate(iteratorOptions(range, onDamaged));
  try {
    let first = true;
    for (;;) {
      const raw = [await iterator.next()];
      // The addon's first answer is a single entry: take the next one with it.
      if (first && raw[0]?.finished === false && range.limit !== 1) raw.push(await iterator.next());
      first = false;
      const chunk = raw.flatMap((part) => opener.open(part));
      if (chunk.length > 0) yield chunk;
      if (opener.failure !== undefined) throw opener.failure;
      if (opener.isDone || raw.at(-1)?.finished) return;
    }
  } catch (error) {
    throw error instanceof ShoalError ? error : readError(connection.folder, ShoalError.from(error));
  } finally {
    iterator.end();
  }
}

function iteratorOptions(range: KeyRange, onDamaged: OnDamaged | undefined): IteratorOptions {
  return {
    ...(range.gte === undefined ? {} : { gte: range.gte }),
    ...(range.lt === undefined ? {} : { lt: range.lt }),
    // Damaged records that are left out do not count, so the addon cannot count.
    ...(range.limit === undefined || onDamaged !== undefined ? {} : { limit: Math.min(range.limit, 2 ** 31 - 1) }),
    highWaterMark: SCAN_CHUNK_BYTES,
  };
}

/** Opens envelopes until the limit is reached or a record is damaged. */
class RecordOpener {
  /** Why the scan has to end after what was given so far. */
  failure: ShoalError | undefined;
  #left: number;
  readonly #onDamaged: OnDamaged | undefined;

  constructor(limit: number | undefined, onDamaged: OnDamaged | undefined) {
    this.#onDamaged = onDamaged;
    this.#left = limit ?? Number.POSITIVE_INFINITY;
  }

  get isDone(): boolean {
    return this.#left === 0 || this.failure !== undefined;
  }

  open(raw: RawChunk): KeyValueEntry[] {
    const entries: KeyValueEntry[] = [];
    for (let index = 0; index < raw.size && !this.isDone; index++) {
      const key = raw.key(index);
      const value = openRecord(key, raw.value(index));
      if (!(value instanceof ShoalError)) {
        entries.push({ key, value });
        this.#left -= 1;
      } else if (this.#onDamaged === undefined) this.failure = value;
      else this.#onDamaged(key);
    }
    return entries;
  }
}
