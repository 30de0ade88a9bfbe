import type { KeyValueChange } from "@shoal/kv";
import { ShoalError } from "@shoal/model";
import { type CopyName, type CopyState, INCOMPLETE } from "@shoal/replication";
import type { Head } from "./head-record.js";
import { COPY_KEY } from "./key-layout.js";

/*
 * Value of the copy record, little-endian; each commit of a copy rewrites it:
 *  0  u8   record version (1)
 *  1  u8   0
 *  2  u16  bytes of the name
 *  4  u32  number of epochs
 *  8  u64  version of the configuration that the copy was put into
 * 16  u64  no primary of a lower epoch is followed
 * 24  u64  epoch of the journal's end
 * 32  u64  sequence of the journal's end
 * 40  u64  the journal names what changed after this sequence
 * 48  u64  rows may be as new as this sequence; beyond the end: the copy is incomplete
 * 56  epochs of 16 bytes: u64 epoch, u64 its first sequence
 *  …  name as UTF-8
 */
const RECORD_VERSION = 1;
const HEADER_BYTES = 56;
const EPOCH_BYTES = 16;

/** What a store says of itself as a copy of its shard. */
export interface CopyRecord {
  readonly name: CopyName;
  readonly state: CopyState;
}

export function encodeCopyRecord({ name, state }: CopyRecord): Uint8Array {
  const { since, acceptedEpoch, end, epochs, base, through } = state;
  const nameBytes = Buffer.from(name, "utf8");
  const record = Buffer.alloc(HEADER_BYTES + epochs.length * EPOCH_BYTES + nameBytes.length);
  record[0] = RECORD_VERSION;
  record.writeUInt16LE(nameBytes.length, 2);
  record.writeUInt32LE(epochs.length, 4);
  const numbers = [since, acceptedEpoch, end.epoch, end.sequence, base, through];
  for (const { epoch, first } of epochs) numbers.push(epoch, first);
  for (const [at, number] of numbers.entries()) record.writeBigUInt64LE(BigInt(number), 8 + at * 8);
  nameBytes.copy(record, record.length - nameBytes.length);
  return record;
}

/** Fails with `dataLoss` when the bytes are no copy record. */
export function decodeCopyRecord(bytes: Uint8Array): CopyRecord {
  const record = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isLongEnough = record.length >= HEADER_BYTES && record[0] === RECORD_VERSION;
  const nameAt = isLongEnough ? HEADER_BYTES + record.readUInt32LE(4) * EPOCH_BYTES : 0;
  if (!isLongEnough || record.length !== nameAt + record.readUInt16LE(2)) {
    throw new ShoalError("dataLoss", "the copy record cannot be read");
  }
  const number = (at: number) => Number(record.readBigUInt64LE(at));
  const epochs = [];
  for (let at = HEADER_BYTES; at < nameAt; at += EPOCH_BYTES) epochs.push({ epoch: number(at), first: number(at + 8) });
  return {
    name: record.toString("utf8", nameAt),
    state: {
      since: number(8),
      acceptedEpoch: number(16),
      end: { epoch: number(24), sequence: number(32) },
      epochs,
      base: number(40),
      through: number(48),
    },
  };
}

export function copyRecordChange(record: CopyRecord): KeyValueChange {
  return { type: "put", key: COPY_KEY, value: encodeCopyRecord(record) };
}

/** Whether the rows are those of the end of the journal. */
export function isComplete({ through, end }: CopyState): boolean {
  return through <= end.sequence;
}

/** Of a store that becomes a copy: it has what its one owner wrote, and how that came about is not known any more. */
export function firstCopyState(since: number, { sequence, epoch }: Head): CopyState {
  return {
    since,
    acceptedEpoch: epoch,
    end: { epoch: sequence === 0 ? 0 : epoch, sequence },
    epochs: sequence === 0 || epoch === 0 ? [] : [{ epoch, first: 1 }],
    base: sequence,
    through: sequence,
  };
}

/** Of a copy of which nothing can be used: whoever becomes its primary sends all rows. */
export function emptiedCopyState({ since, acceptedEpoch }: CopyState): CopyState {
  // No journal begins before its first entry, so that none has anything in common with this one.
  return { since, acceptedEpoch, end: { epoch: 0, sequence: 0 }, epochs: [], base: 1, through: INCOMPLETE };
}
