import { ShoalError } from "@shoal/model";
import { COPY_FORMAT_VERSION, FORMAT_VERSION } from "./key-layout.js";

/*
 * Value of the format record, little-endian:
 *  0  8 bytes  "SHOALSHD"
 *  8  u32      version of the key and value layout
 * 12  u32      dimensions of the shard's vectors, 0 while it has seen none
 */
const MAGIC = Buffer.from("SHOALSHD", "latin1");
const VERSION_OFFSET = 8;
const DIMENSIONS_OFFSET = 12;
const RECORD_BYTES = 16;

export interface FormatRecord {
  readonly version: number;
  /** Whether the store has a copy record. */
  readonly isCopy: boolean;
  readonly dimensions: number | undefined;
}

/** `isCopy`: the store has a copy record. */
export function encodeFormatRecord(dimensions: number | undefined, isCopy = false): Uint8Array {
  const bytes = Buffer.alloc(RECORD_BYTES);
  MAGIC.copy(bytes);
  bytes.writeUInt32LE(isCopy ? COPY_FORMAT_VERSION : FORMAT_VERSION, VERSION_OFFSET);
  bytes.writeUInt32LE(dimensions ?? 0, DIMENSIONS_OFFSET);
  return bytes;
}

/**
 * Fails with `dataLoss` when the bytes are no format record and with `unavailable` when a newer release wrote it.
 * `place` names the shard in messages. Longer records of the same version are read: what follows is for later.
 */
export function decodeFormatRecord(bytes: Uint8Array, place: string): FormatRecord {
  const record = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (record.length < RECORD_BYTES || !record.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new ShoalError("dataLoss", `${place} has no readable format record: these are not a shard's data`);
  }
  const version = record.readUInt32LE(VERSION_OFFSET);
  if (version > COPY_FORMAT_VERSION) {
    throw new ShoalError(
      "unavailable",
      `${place} was written in data format ${version} by a newer release; this one reads up to format ${COPY_FORMAT_VERSION}`,
    );
  }
  if (version === 0) throw new ShoalError("dataLoss", `${place} names data format 0, which never existed`);
  const dimensions = record.readUInt32LE(DIMENSIONS_OFFSET);
  return {
    version,
    isCopy: version === COPY_FORMAT_VERSION,
    dimensions: dimensions === 0 ? undefined : dimensions,
  };
}
