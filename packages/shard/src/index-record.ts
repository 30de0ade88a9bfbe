import type { KeyValueChange } from "@shoal/kv";
import { INDEX_KEY } from "./key-layout.js";

/*
 * Value of the index record, little-endian: u32, the layout of the inverted index's records when all of them are there and
 * agree with the rows, else 0. A shard without the record has no index yet. An index of another layout, or of none, is
 * rebuilt from the rows: the record is written last then.
 */
const RECORD_BYTES = 4;

/**
 * Of the records that `inverted-index` writes; another number has every index rebuilt at the next opening. 2: phone numbers
 * and blobs have a record of their presence.
 */
const INDEX_LAYOUT = 2;

const OUTDATED = 0;

export function indexIsWhole(record: Uint8Array | undefined): boolean {
  if (record?.length !== RECORD_BYTES) return false;
  return new DataView(record.buffer, record.byteOffset).getUint32(0, true) === INDEX_LAYOUT;
}

/** The inverted index agrees with the rows from now on, or is not to be believed any more. */
export function indexRecord(isWhole: boolean): KeyValueChange {
  const value = Buffer.alloc(RECORD_BYTES);
  value.writeUInt32LE(isWhole ? INDEX_LAYOUT : OUTDATED);
  return { type: "put", key: INDEX_KEY, value };
}
