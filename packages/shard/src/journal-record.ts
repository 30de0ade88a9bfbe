import { OBJECT_ID_BYTES, ShoalError } from "@shoal/model";

/*
 * A journal record holds what one commit changed: at most one entry an id, with consecutive sequence numbers, the last
 * of which stands in the record's key. Little-endian:
 *  0  u8   record version (1)
 *  1  3 bytes 0
 *  4  u32  number of entries
 *  8  u64  epoch
 * 16  entries of 32 bytes:
 *      0  uuid
 *     16  f64  creation time, milliseconds since 1970 (0 for a delete)
 *     24  u32  document id; 0xffffffff: the entry changed nothing here, it only has its sequence (format 3)
 *     28  u8   kind: 1 put, 2 delete
 *     29  u8   flags of a put: 1 the row has a vector, 2 the vector differs from the one before, 4 created again
 *     30  u16  0
 */
const RECORD_VERSION = 1;
const HEADER_BYTES = 16;
const ENTRY_BYTES = 32;
const PUT = 1;
const DELETE = 2;
const HAS_VECTOR = 1;
const VECTOR_CHANGED = 2;
const CREATED = 4;

/** Document of an entry of a copy that changed nothing: it deletes what was not there, or a newer row was there already. */
export const NO_DOCUMENT = 0xffff_ffff;

export interface JournalEntry {
  readonly kind: "put" | "delete";
  /** The 16 bytes of the object's id. */
  readonly rawId: Uint8Array;
  readonly document: number;
  readonly creationTimeUnix: number;
  readonly hasVector: boolean;
  /** False: the vector of the document's previous put still holds. */
  readonly vectorChanged: boolean;
  /** True: the object counts as the newest one, also when there was one with its id. */
  readonly created: boolean;
}

export interface JournalRecord {
  /** Sequence of the first entry. */
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly epoch: number;
  readonly entries: readonly JournalEntry[];
}

export function encodeJournalRecord(entries: readonly JournalEntry[], epoch: number): Buffer {
  const record = Buffer.alloc(HEADER_BYTES + entries.length * ENTRY_BYTES);
  record[0] = RECORD_VERSION;
  record.writeUInt32LE(entries.length, 4);
  record.writeBigUInt64LE(BigInt(epoch), 8);
  let at = HEADER_BYTES;
  for (const entry of entries) {
    record.set(entry.rawId, at);
    record.writeDoubleLE(entry.creationTimeUnix, at + OBJECT_ID_BYTES);
    record.writeUInt32LE(entry.document, at + 24);
    record[at + 28] = entry.kind === "put" ? PUT : DELETE;
    record[at + 29] =
      (entry.hasVector ? HAS_VECTOR : 0) | (entry.vectorChanged ? VECTOR_CHANGED : 0) | (entry.created ? CREATED : 0);
    at += ENTRY_BYTES;
  }
  return record;
}

/** `lastSequence` is that of the record's key. Fails with `dataLoss` when the bytes are no journal record. */
export function decodeJournalRecord(bytes: Uint8Array, lastSequence: number): JournalRecord {
  const record = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = record.length >= HEADER_BYTES ? record.readUInt32LE(4) : 0;
  if (record[0] !== RECORD_VERSION || count === 0 || record.length !== HEADER_BYTES + count * ENTRY_BYTES) {
    throw new ShoalError("dataLoss", `journal record ${lastSequence} cannot be read`);
  }
  const entries: JournalEntry[] = [];
  for (let at = HEADER_BYTES; at < record.length; at += ENTRY_BYTES) entries.push(decodeEntry(record, at));
  return {
    firstSequence: lastSequence - count + 1,
    lastSequence,
    epoch: Number(record.readBigUInt64LE(8)),
    entries,
  };
}

function decodeEntry(record: Buffer, at: number): JournalEntry {
  const flags = record[at + 29] ?? 0;
  return {
    kind: record[at + 28] === DELETE ? "delete" : "put",
    rawId: record.subarray(at, at + OBJECT_ID_BYTES),
    document: record.readUInt32LE(at + 24),
    creationTimeUnix: record.readDoubleLE(at + OBJECT_ID_BYTES),
    hasVector: (flags & HAS_VECTOR) !== 0,
    vectorChanged: (flags & VECTOR_CHANGED) !== 0,
    created: (flags & CREATED) !== 0,
  };
}
