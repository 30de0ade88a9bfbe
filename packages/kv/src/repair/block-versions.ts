import { ENVELOPE_BYTES, ENVELOPE_FORMAT } from "../record-envelope.js";
import { endOfEntries, readKey, VarintReader } from "../table-block.js";
import { DELETION, type FoundVersion, VALUE, verifiedValue, versionOf } from "./found-version.js";

/** Sequence number (7 bytes) and type, at the end of each key of a data block. */
const TRAILER_BYTES = 8;
const KEY_BYTES_MAX = 65_536 + TRAILER_BYTES;

/** All versions in a data block whose checksum holds; undefined when it is no data block. */
export function blockVersions(block: Uint8Array): FoundVersion[] | undefined {
  const end = endOfEntries(block);
  if (end === undefined) return undefined;
  const versions: FoundVersion[] = [];
  let entry: BlockEntry | undefined;
  for (let at = 0; at < end; at = entry.end) {
    entry = entryAt(block, at, end, entry?.internalKey);
    if (entry === undefined) return undefined;
    const { key, sequence, type, value } = partsOf(block, entry);
    versions.push(versionOf(key, sequence, type, value));
  }
  return versions;
}

/**
 * What can be read of the bytes of data blocks that are damaged, or whose bounds are not known. Only values that their own
 * checksum vouches for; a deletion has none. `damaged` are values where one is expected, with the key that can be read.
 */
export function versionsInDamaged(bytes: Uint8Array): FoundVersion[] {
  const versions: FoundVersion[] = [];
  /** The key before the entry at a place that an entry leads to. */
  const leads = new Map<number, Uint8Array | undefined>([[0, undefined]]);
  let at = 0;
  while (at < bytes.length) {
    const isExpected = leads.has(at);
    const entry = entryAt(bytes, at, bytes.length, leads.get(at));
    leads.delete(at);
    if (entry === undefined || !isLikely(bytes, entry)) {
      at += 1;
      continue;
    }
    const { key, sequence, type, value } = partsOf(bytes, entry);
    const version = type === VALUE ? verifiedValue(key, sequence, value) : undefined;
    if (version !== undefined) {
      versions.push(version);
      leads.set(entry.end, entry.internalKey);
      at = entry.end;
      continue;
    }
    if (isExpected) {
      leads.set(entry.end, entry.internalKey);
      if (type === VALUE) versions.push({ kind: "damaged", key, sequence });
    }
    at += 1;
  }
  return versions;
}

interface BlockEntry {
  readonly internalKey: Uint8Array;
  readonly valueFrom: number;
  readonly end: number;
}

/** The entry that begins at `at`: bytes shared with the last key, own bytes of the key, bytes of the value, both. */
function entryAt(bytes: Uint8Array, at: number, limit: number, last: Uint8Array | undefined): BlockEntry | undefined {
  const reader = new VarintReader(bytes, at);
  const shared = reader.next();
  const own = reader.next();
  const valueLength = reader.next();
  const keyBytes = shared + own;
  if (!(keyBytes > TRAILER_BYTES && keyBytes <= KEY_BYTES_MAX && reader.at + own + valueLength <= limit))
    return undefined;
  const internalKey = readKey(bytes, reader, shared, own, last, limit);
  return internalKey && { internalKey, valueFrom: reader.at, end: reader.at + valueLength };
}

/** Whether it looks like one of ours: most places in a damaged block are ruled out here, without a checksum. */
function isLikely(bytes: Uint8Array, { internalKey, valueFrom, end }: BlockEntry): boolean {
  const type = internalKey[internalKey.length - TRAILER_BYTES];
  if (type === DELETION) return end === valueFrom;
  return type === VALUE && end - valueFrom >= ENVELOPE_BYTES && bytes[valueFrom] === ENVELOPE_FORMAT;
}

function partsOf(bytes: Uint8Array, { internalKey, valueFrom, end }: BlockEntry) {
  const trailerAt = internalKey.length - TRAILER_BYTES;
  let sequence = 0;
  for (let at = internalKey.length - 1; at > trailerAt; at--) sequence = sequence * 256 + (internalKey[at] ?? 0);
  return {
    key: internalKey.subarray(0, trailerAt),
    sequence,
    type: internalKey[trailerAt] ?? 0,
    value: bytes.subarray(valueFrom, end),
  };
}
