// RocksDB `table/block_based/block_builder.cc` and `table/format.cc`.
import { readSnappy } from "./snappy-block.js";

/** Where a data block of a table is, and a key that is not before its last one. */
export interface BlockPlace {
  readonly key: Uint8Array;
  readonly offset: number;
  readonly size: number;
}

/** Compression type and masked CRC-32C, behind each block. */
export const TRAILER_BYTES = 5;

const SNAPPY = 1;
const BLOCK_BYTES_MAX = 256 << 20;
/** Sequence number and type, at the end of each key of a data block. */
const INTERNAL_KEY_BYTES = 8;

/** The plain bytes of a block that is stored with its trailer; undefined when it cannot be unpacked. */
export function unpackBlock(stored: Uint8Array): Uint8Array | undefined {
  const packed = stored.subarray(0, stored.length - TRAILER_BYTES);
  return stored[packed.length] === SNAPPY ? readSnappy(packed, BLOCK_BYTES_MAX) : packed;
}

/** The places of the data blocks in an index block (format version 4); undefined when it is none. */
export function parseIndexBlock(index: Uint8Array): BlockPlace[] | undefined {
  const end = endOfEntries(index);
  if (end === undefined) return undefined;
  const places: BlockPlace[] = [];
  const reader = new VarintReader(index, 0);
  let last: BlockPlace | undefined;
  while (reader.at < end) {
    const shared = reader.next();
    const key = readKey(index, reader, shared, reader.next(), last?.key, end);
    if (key === undefined) return undefined;
    // Only an entry that shares nothing says where its block is; the others follow the block before.
    if (shared === 0 || last === undefined) last = { key, offset: reader.next(), size: reader.next() };
    else last = { key, offset: last.offset + last.size + TRAILER_BYTES, size: last.size + unzigzag(reader.next()) };
    if (!Number.isSafeInteger(last.offset + last.size) || last.size < 0) return undefined;
    places.push(last);
  }
  return places;
}

/** Where the blocks of a metaindex are, by name; undefined when it is none. */
export function parseMetaIndexBlock(metaIndex: Uint8Array): ReadonlyMap<string, BlockPlace> | undefined {
  const end = endOfEntries(metaIndex);
  if (end === undefined) return undefined;
  const places = new Map<string, BlockPlace>();
  const reader = new VarintReader(metaIndex, 0);
  let key: Uint8Array | undefined;
  while (reader.at < end) {
    const shared = reader.next();
    const own = reader.next();
    const valueLength = reader.next();
    key = readKey(metaIndex, reader, shared, own, key, end);
    if (key === undefined) return undefined;
    const value = new VarintReader(metaIndex, reader.at);
    places.set(Buffer.from(key).toString("latin1"), { key, offset: value.next(), size: value.next() });
    reader.at += valueLength;
  }
  return places;
}

/** The keys of a data block, as they were written by the user of RocksDB; undefined when it is none. */
export function parseDataBlockKeys(block: Uint8Array): Uint8Array[] | undefined {
  const end = endOfEntries(block);
  if (end === undefined) return undefined;
  const keys: Uint8Array[] = [];
  const reader = new VarintReader(block, 0);
  let last: Uint8Array | undefined;
  while (reader.at < end) {
    const shared = reader.next();
    const own = reader.next();
    const valueLength = reader.next();
    last = readKey(block, reader, shared, own, last, end);
    if (last === undefined || last.length < INTERNAL_KEY_BYTES) return undefined;
    keys.push(last.subarray(0, last.length - INTERNAL_KEY_BYTES));
    reader.at += valueLength;
  }
  return keys;
}

/** A block ends with the places where keys stand whole, and their count. */
function endOfEntries(block: Uint8Array): number | undefined {
  if (block.length < 4) return undefined;
  const restarts = new DataView(block.buffer, block.byteOffset, block.length).getUint32(block.length - 4, true);
  const end = block.length - 4 - 4 * restarts;
  return end < 0 ? undefined : end;
}

/** A key is stored as the count of bytes shared with the last one and the rest. */
function readKey(
  block: Uint8Array,
  reader: VarintReader,
  shared: number,
  own: number,
  last: Uint8Array | undefined,
  end: number,
): Uint8Array | undefined {
  if (!(shared <= (last?.length ?? 0) && reader.at + own <= end)) return undefined;
  if (shared === 0) {
    reader.at += own;
    return block.subarray(reader.at - own, reader.at);
  }
  const key = new Uint8Array(shared + own);
  if (last !== undefined) key.set(last.subarray(0, shared));
  key.set(block.subarray(reader.at, reader.at + own), shared);
  reader.at += own;
  return key;
}

export class VarintReader {
  constructor(
    private readonly bytes: Uint8Array,
    public at: number,
  ) {}

  /** NaN behind the end. */
  next(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) return Number.NaN;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }
}

function unzigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}
