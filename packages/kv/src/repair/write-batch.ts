import { ENVELOPE_BYTES, ENVELOPE_FORMAT } from "../record-envelope.js";
import { VarintReader } from "../table-block.js";
import { DELETION, type FoundVersion, VALUE, verifiedValue, versionOf } from "./found-version.js";

// RocksDB `db/write_batch.cc`: sequence of the first change (8 bytes), count (4 bytes), changes of type, key with its length
// and, for a put, value with its length.
const HEADER_BYTES = 12;
const KEY_BYTES_MAX = 65_536;

export interface BatchVersions {
  readonly versions: readonly FoundVersion[];
  /** The sequence after the last change, as far as it is known. */
  readonly nextSequence: number;
}

/** The changes of a whole log record; undefined when it holds something else. */
export function batchVersions(batch: Uint8Array): BatchVersions | undefined {
  if (batch.length < HEADER_BYTES) return undefined;
  const versions: FoundVersion[] = [];
  let sequence = sequenceOf(batch);
  let at = HEADER_BYTES;
  while (at < batch.length) {
    const change = changeAt(batch, at);
    if (change === undefined) return undefined;
    versions.push(versionOf(change.key, sequence, change.type, change.value));
    sequence += 1;
    at = change.end;
  }
  return { versions, nextSequence: sequence };
}

/**
 * The values in a damaged log record that their own checksum vouches for. `sequence`: the one after the record before; the
 * sequences that are given here are no greater than the true ones, and in their order.
 */
export function versionsInDamagedBatch(batch: Uint8Array, sequence: number): BatchVersions {
  const versions: FoundVersion[] = [];
  let next = sequence;
  let at = 0;
  while (at < batch.length) {
    const change = batch[at] === VALUE ? changeAt(batch, at) : undefined;
    const isLikely =
      change !== undefined && change.value.length >= ENVELOPE_BYTES && change.value[0] === ENVELOPE_FORMAT;
    const version = isLikely ? verifiedValue(change.key, next, change.value) : undefined;
    if (change === undefined || version === undefined) {
      at += 1;
      continue;
    }
    versions.push(version);
    next += 1;
    at = change.end;
  }
  return { versions, nextSequence: next };
}

const NOTHING = new Uint8Array(0);

function changeAt(batch: Uint8Array, at: number) {
  const type = batch[at] ?? -1;
  if (type !== VALUE && type !== DELETION) return undefined;
  const reader = new VarintReader(batch, at + 1);
  const keyBytes = reader.next();
  const keyFrom = reader.at;
  if (!(keyBytes > 0 && keyBytes <= KEY_BYTES_MAX && keyFrom + keyBytes <= batch.length)) return undefined;
  const key = batch.subarray(keyFrom, keyFrom + keyBytes);
  if (type === DELETION) return { type, key, value: NOTHING, end: keyFrom + keyBytes };
  const valueReader = new VarintReader(batch, keyFrom + keyBytes);
  const valueBytes = valueReader.next();
  const end = valueReader.at + valueBytes;
  if (!(end <= batch.length)) return undefined;
  return { type, key, value: batch.subarray(valueReader.at, end), end };
}

function sequenceOf(batch: Uint8Array): number {
  const view = new DataView(batch.buffer, batch.byteOffset, batch.length);
  return view.getUint32(0, true) + view.getUint32(4, true) * 2 ** 32;
}
