import { ShoalError } from "@shoal/model";
import type { KeyRange, KeyValueChange } from "./key-value-store.js";

/** Longest key that a store takes. */
export const KEY_BYTES_MAX = 64 * 1024;

/** Of no record: what is written to learn whether RocksDB takes writes is that there is none. */
export const PROBE_KEY = Buffer.from("shoal: does RocksDB take writes?");

/** Throws `invalid` for a key that no store can hold: keys have 1 to `KEY_BYTES_MAX` bytes, and are not `PROBE_KEY`. */
export function checkKey(key: Uint8Array): void {
  if (key.length === 0) throw new ShoalError("invalid", "a key has at least one byte");
  if (key.length === PROBE_KEY.length && PROBE_KEY.equals(key)) {
    throw new ShoalError("invalid", `the key '${PROBE_KEY}' is kept for the store itself`);
  }
  if (key.length > KEY_BYTES_MAX) {
    throw new ShoalError("invalid", `a key has at most ${KEY_BYTES_MAX} bytes, got ${key.length}`);
  }
}

/** Throws `invalid` for the first bad key of a batch. */
export function checkBatch(batch: readonly KeyValueChange[]): void {
  for (const change of batch) checkKey(change.key);
}

/** Throws `invalid` for a limit that is not a whole number from 0. */
export function checkRange(range: KeyRange): void {
  if (range.limit !== undefined && (!Number.isSafeInteger(range.limit) || range.limit < 0)) {
    throw new ShoalError("invalid", `limit of a scan is a whole number from 0, got ${range.limit}`);
  }
}
