import { ShoalError } from "@shoal/model";

/** The part of `RocksStoreOptions` that costs memory. */
export interface StoreMemory {
  readonly cacheBytes: number;
  readonly writeBufferBytes: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;
/** Below these a store works, but reads most blocks from the page cache of the system and flushes often. */
const CACHE_BYTES_MIN = 256 * KIB;
const WRITE_BUFFER_BYTES_MIN = 256 * KIB;
const WRITE_BUFFER_BYTES_MAX = 8 * MIB;
/** RocksDB fills one memtable while it writes the other to a file. */
const WRITE_BUFFERS = 2;
/** Up to this size a memtable may be larger than the store's share: a smaller one makes many small tables to merge. */
const WORTHWHILE_BUFFER_BYTES = 4 * MIB;
/** How many times the total all memtables may take that are larger than their share, each of them filled. */
const OVERCOMMIT = 16;

/**
 * What each of `stores` stores may use so that all of them stay within `totalBytes`: the addon cannot share a cache
 * among stores. Half goes to write buffers, as long as they have a use for it, the rest to block caches. With more stores
 * than the total has floors for (768 KiB a store), the floors win: the sum is then over the total, by that much.
 *
 * Of many stores few are written to, and a memtable takes memory only as it fills. So it may grow to 4 MiB whatever the
 * share is, as long as all memtables together, each of them full, take at most sixteen times the total: that is the worst
 * case, of a process that writes some MiB to every one of its stores.
 */
export function storeMemory(totalBytes: number, stores: number): StoreMemory {
  if (!(totalBytes > 0) || !Number.isInteger(stores) || stores < 1) {
    throw new ShoalError("invalid", `memory of stores: ${totalBytes} bytes among ${stores} stores`);
  }
  const share = totalBytes / stores;
  const sharedBytes = Math.floor(
    Math.min(WRITE_BUFFER_BYTES_MAX, Math.max(WRITE_BUFFER_BYTES_MIN, share / 2 / WRITE_BUFFERS)),
  );
  const overcommitted = Math.floor(Math.min(WORTHWHILE_BUFFER_BYTES, share * OVERCOMMIT));
  return {
    writeBufferBytes: Math.max(sharedBytes, overcommitted),
    cacheBytes: Math.max(CACHE_BYTES_MIN, Math.floor(share - WRITE_BUFFERS * sharedBytes)),
  };
}
