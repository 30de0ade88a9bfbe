import { ShoalError } from "@shoal/model";
import { IdSetDigest } from "./id-set-digest.js";

/*
 * Value of the head record, little-endian: u64 sequence of the last change, u64 its epoch, then the ids that are there
 * after it (`id-set-digest.ts`): u64 how many (all ones: nobody knows), u32 low, u32 high. Each commit rewrites it, so
 * that a journal which has lost its end is noticed, and rows that are lost together with their ids.
 */
const RECORD_BYTES = 32;
const UNKNOWN = 0xffff_ffff_ffff_ffffn;

export interface Head {
  readonly sequence: number;
  readonly epoch: number;
  /** The ids of all objects; undefined: it was lost while rows were damaged. */
  readonly ids: Readonly<IdSetDigest> | undefined;
}

export function encodeHeadRecord({ sequence, epoch, ids }: Head): Uint8Array {
  const bytes = Buffer.allocUnsafe(RECORD_BYTES);
  bytes.writeBigUInt64LE(BigInt(sequence), 0);
  bytes.writeBigUInt64LE(BigInt(epoch), 8);
  bytes.writeBigUInt64LE(ids === undefined ? UNKNOWN : BigInt(ids.count), 16);
  bytes.writeUInt32LE(ids?.low ?? 0, 24);
  bytes.writeUInt32LE(ids?.high ?? 0, 28);
  return bytes;
}

/** Fails with `dataLoss` when the bytes are no head record. */
export function decodeHeadRecord(bytes: Uint8Array): Head {
  if (bytes.length !== RECORD_BYTES) throw new ShoalError("dataLoss", "the head record cannot be read");
  const record = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = record.readBigUInt64LE(16);
  return {
    sequence: Number(record.readBigUInt64LE(0)),
    epoch: Number(record.readBigUInt64LE(8)),
    ids:
      count === UNKNOWN ? undefined : new IdSetDigest(Number(count), record.readUInt32LE(24), record.readUInt32LE(28)),
  };
}
