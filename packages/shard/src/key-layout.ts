import type { IndexKeyPrefixes } from "@shoal/inverted-index";
import { type ObjectId, writeObjectId } from "@shoal/model";

/*
 * Every key of a shard's store begins with one of these bytes. A byte once given is never given to anything else.
 *
 * | byte       | key                                      | value                    | since format |
 * |------------|------------------------------------------|--------------------------|--------------|
 * | 0x00       | the byte alone                           | format record            | 1            |
 * | 0x01       | the byte alone                           | head record              | 1            |
 * | 0x02       | the byte alone                           | index record             | 2            |
 * | 0x03       | the byte alone                           | copy record              | 3            |
 * | 0x04       | 16 bytes of the uuid                     | nothing                  | 3            |
 * | 0x63 `c`   | columns of the inverted index            | see `inverted-index`     | 2            |
 * | 0x6a `j`   | last sequence of a commit, 8 bytes BE    | journal record           | 1            |
 * | 0x6f `o`   | 16 bytes of the uuid                     | row                      | 1            |
 * | 0x70 `p`   | postings of the inverted index           | see `inverted-index`     | 2            |
 *
 * Format 2 is format 1 and the inverted index. A shard of format 1 becomes one of format 2 when its index has been built.
 * Format 3 is format 2 and a copy record: a shard with one copy is never of format 3, so that earlier releases can open it.
 * Keys with 0x04 name the documents that a catch-up has touched; there are none in a copy that is complete.
 */
const FORMAT = 0x00;
const HEAD = 0x01;
const INDEX = 0x02;
const COPY = 0x03;
const TOUCHED = 0x04;
const COLUMNS = 0x63;
const JOURNAL = 0x6a;
const ROW = 0x6f;
const POSTINGS = 0x70;

/** The inverted index makes its keys itself; it writes nothing under other bytes. */
export const INDEX_PREFIXES: IndexKeyPrefixes = { postings: POSTINGS, columns: COLUMNS };

/** The layout of keys and values of a shard with one copy. */
export const FORMAT_VERSION = 2;

/** Of a store that is one of several copies: the newest layout that this code reads. */
export const COPY_FORMAT_VERSION = 3;

export const FORMAT_KEY: Uint8Array = Uint8Array.of(FORMAT);
export const HEAD_KEY: Uint8Array = Uint8Array.of(HEAD);
export const INDEX_KEY: Uint8Array = Uint8Array.of(INDEX);
export const COPY_KEY: Uint8Array = Uint8Array.of(COPY);

const ROW_KEY_BYTES = 17;
const JOURNAL_KEY_BYTES = 9;

export function rowKey(id: ObjectId): Uint8Array {
  const key = Buffer.allocUnsafe(ROW_KEY_BYTES);
  key[0] = ROW;
  writeObjectId(id, key, 1);
  return key;
}

/** `rawId`: the 16 bytes of an id. */
export function rowKeyOfRawId(rawId: Uint8Array): Uint8Array {
  const key = Buffer.allocUnsafe(ROW_KEY_BYTES);
  key[0] = ROW;
  key.set(rawId, 1);
  return key;
}

/** `rawId`: the 16 bytes of an id. */
export function touchedKey(rawId: Uint8Array): Uint8Array {
  const key = rowKeyOfRawId(rawId);
  key[0] = TOUCHED;
  return key;
}

export function touchedRange(): { readonly gte: Uint8Array; readonly lt: Uint8Array } {
  return { gte: Uint8Array.of(TOUCHED), lt: Uint8Array.of(TOUCHED + 1) };
}

/** The 16 bytes of the id in a row key, as a view, or undefined when `key` is no row key (it may be damaged). */
export function rawIdOfRowKey(key: Uint8Array): Uint8Array | undefined {
  return key.length === ROW_KEY_BYTES && key[0] === ROW ? key.subarray(1) : undefined;
}

/** All that the inverted index writes. */
export function indexRanges(): readonly { readonly gte: Uint8Array; readonly lt: Uint8Array }[] {
  return [COLUMNS, POSTINGS].map((byte) => ({ gte: Uint8Array.of(byte), lt: Uint8Array.of(byte + 1) }));
}

export function rowRange(): { readonly gte: Uint8Array; readonly lt: Uint8Array } {
  return { gte: Uint8Array.of(ROW), lt: Uint8Array.of(ROW + 1) };
}

/** Key of the journal record whose last entry has `sequence`. */
export function journalKey(sequence: number): Uint8Array {
  const key = Buffer.allocUnsafe(JOURNAL_KEY_BYTES);
  key[0] = JOURNAL;
  key.writeBigUInt64BE(BigInt(sequence), 1);
  return key;
}

/** The sequence of a journal key, or undefined when `key` is not a journal key. */
export function sequenceOfJournalKey(key: Uint8Array): number | undefined {
  if (key.length !== JOURNAL_KEY_BYTES || key[0] !== JOURNAL) return undefined;
  const sequence = Number(Buffer.from(key.buffer, key.byteOffset, key.length).readBigUInt64BE(1));
  return Number.isSafeInteger(sequence) ? sequence : undefined;
}

/** Journal records that end after `sequence`. */
export function journalRangeAfter(sequence: number): { readonly gte: Uint8Array; readonly lt: Uint8Array } {
  return { gte: journalKey(sequence + 1), lt: Uint8Array.of(JOURNAL + 1) };
}

/** Journal records that end at or before `sequence`. */
export function journalRangeUpTo(sequence: number): { readonly gte: Uint8Array; readonly lt: Uint8Array } {
  return { gte: Uint8Array.of(JOURNAL), lt: journalKey(sequence + 1) };
}
