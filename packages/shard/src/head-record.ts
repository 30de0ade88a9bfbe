import { ShoalError } from "@shoal/model";

/*
 * Value of the head record, little-endian: u64 sequence of the last change, u64 its term. Each commit rewrites it, so
 * that a journal which has lost its end is noticed.
 */
const RECORD_BYTES = 16;

export interface Head {
  readonly sequence: number;
  readonly term: number;
}

export function encodeHeadRecord(head: Head): Uint8Array {
  const bytes = Buffer.allocUnsafe(RECORD_BYTES);
  bytes.writeBigUInt64LE(BigInt(head.sequence), 0);
  bytes.writeBigUInt64LE(BigInt(head.term), 8);
  return bytes;
}

/** Fails with `dataLoss` when the bytes are no head record. */
export function decodeHeadRecord(bytes: Uint8Array): Head {
  if (bytes.length !== RECORD_BYTES) throw new ShoalError("dataLoss", "the head record cannot be read");
  const record = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { sequence: Number(record.readBigUInt64LE(0)), term: Number(record.readBigUInt64LE(8)) };
}
