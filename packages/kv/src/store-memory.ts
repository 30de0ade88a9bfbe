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

/**
 * What each of `stores` stores may use so that all of them stay within `totalBytes`: the addon cannot share a cache
 * among stores. Half goes to write buffers, as long as they have a use for it, the rest to block caches. With more stores
 * than the total has floors for (768 KiB a store), the floors win: the sum is then over the total, by that much.
 */
export function storeMemory(totalBytes: number, stores: number): StoreMemory {
  if (!(totalBytes > 0) || !Number.isInteger(stores) || stores < 1) {
    throw new ShoalError("invalid", `memory of stores: ${totalBytes} bytes among ${stores} stores`);
  }
  const share = totalBytes / stores;
  const writeBufferBytes = Math.floor(
    Math.min(WRITE_BUFFER_BYTES_MAX, Math.max(WRITE_BUFFER_BYTES_MIN, share / 2 / WRITE_BUFFERS)),
  );
  return {
    writeBufferBytes,
    cacheBytes: Math.max(CACHE_BYTES_MIN, Math.floor(share - WRITE_BUFFERS * writeBufferBytes)),
  };
}
