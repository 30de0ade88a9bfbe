import { ShoalError } from "@shoal/model";
import type { KeyRange, KeyValueEntry } from "./key-value-store.js";
import { openRecord } from "./record-envelope.js";
import type { IteratorOptions } from "./rocks-binding.js";
import type { RocksConnection } from "./rocks-connection.js";
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
  let left = range.limit ?? Number.POSITIVE_INFINITY;
  const iterator = connection.iterate(iteratorOptions(range, onDamaged));
  try {
    let first = true;
    for (;;) {
      const raw = [await iterator.next()];
      // The addon's first result is a single entry: take the next one with it.
      if (first && raw[0]?.finished === false && range.limit !== 1) raw.push(await iterator.next());
      first = false;
      const chunk: KeyValueEntry[] = [];
      let failure: ShoalError | undefined;
      for (const part of raw) {
        for (let index = 0; index < part.size && left > 0 && failure === undefined; index++) {
          const key = part.key(index);
          const value = openRecord(key, part.value(index));
          if (!(value instanceof ShoalError)) {
            chunk.push({ key, value });
            left -= 1;
          } else if (onDamaged === undefined) failure = value;
          else onDamaged(key);
        }
      }
      if (chunk.length > 0) yield chunk;
      if (failure !== undefined) throw failure;
      if (left === 0 || raw.at(-1)?.finished) return;
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
