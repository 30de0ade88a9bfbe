// RocksDB `table/block_based/block_builder.cc` and `table/format.cc`.
import { eventLoop } from "@shoal/runtime";
import { readSnappy } from "./snappy-block.js";

/** Where a block of a table is. */
export interface BlockPlace {
  readonly offset: number;
  readonly size: number;
}

/** Where a data block is, and a key that is not before its last one. */
export class IndexedBlock implements BlockPlace {
  readonly #index: Uint8Array;
  readonly #keyFrom: number;
  readonly #keyTo: number;

  constructor(
    index: Uint8Array,
    keyFrom: number,
    keyTo: number,
    readonly offset: number,
    readonly size: number,
  ) {
    this.#index = index;
    this.#keyFrom = keyFrom;
    this.#keyTo = keyTo;
  }

  /** Made when it is asked for: views of all keys of a large table are a burden to the garbage collector. */
  get key(): Uint8Array {
    return this.#index.subarray(this.#keyFrom, this.#keyTo);
  }
}

/** Compression type and masked CRC-32C, behind each block. */
export const TRAILER_BYTES = 5;

const SNAPPY = 1;
const PLACES_PER_STEP = 4096;
const BLOCK_BYTES_MAX = 256 << 20;
/** Sequence number and type, at the end of each key of a data block. */
const INTERNAL_KEY_BYTES = 8;

/** The plain bytes of a block that is stored with its trailer; undefined when it cannot be unpacked. */
export function unpackBlock(stored: Uint8Array): Uint8Array | undefined {
  const packed = stored.subarray(0, stored.length - TRAILER_BYTES);
  return stored[packed.length] === SNAPPY ? readSnappy(packed, BLOCK_BYTES_MAX) : packed;
}

/**
 * The places of the data blocks in an index block (format version 4); undefined when it is none. The index of a large
 * table has tens of thousands: it yields in between.
 */
export async function parseIndexBlock(index: Uint8Array): Promise<IndexedBlock[] | undefined> {
  const end = endOfEntries(index);
  if (end === undefined) return undefined;
  const places: IndexedBlock[] = [];
  const reader = new VarintReader(index, 0);
  let last: IndexedBlock | undefined;
  while (reader.at < end) {
    if (places.length % PLACES_PER_STEP === 0) await eventLoop.next();
    const shared = reader.next();
    const own = reader.next();
    let keys = index;
    let keyFrom = reader.at;
    if (shared === 0) reader.at += own;
    else {
      const key = readKey(index, reader, shared, own, last?.key, end);
      if (key === undefined) return undefined;
      keys = key;
      keyFrom = 0;
    }
    const keyTo = shared + own + keyFrom;
    // Only an entry that shares nothing says where its block is; the others follow the block before.
    const before: IndexedBlock | undefined = shared === 0 ? undefined : last;
    const offset = before === undefined ? reader.next() : before.offset + before.size + TRAILER_BYTES;
    const size = before === undefined ? reader.next() : before.size + unzigzag(reader.next());
    if (!(reader.at <= end && Number.isSafeInteger(offset + size) && size >= 0)) return undefined;
    last = new IndexedBlock(keys, keyFrom, keyTo, offset, size);
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
    places.set(Buffer.from(key).toString("latin1"), { offset: value.next(), size: value.next() });
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
export function endOfEntries(block: Uint8Array): number | undefined {
  if (block.length < 4) return undefined;
  const restarts = new DataView(block.buffer, block.byteOffset, block.length).getUint32(block.length - 4, true);
  const end = block.length - 4 - 4 * restarts;
  return end < 0 ? undefined : end;
}

/** A key is stored as the count of bytes shared with the last one and the rest. */
export function readKey(
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
  readonly #bytes: Uint8Array;

  constructor(
    bytes: Uint8Array,
    public at: number,
  ) {
    this.#bytes = bytes;
  }

  /** NaN behind the end. */
  next(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes[this.at++];
      if (byte === undefined) return Number.NaN;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }
}

function unzigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}
