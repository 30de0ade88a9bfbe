import { type FileHandle, open } from "node:fs/promises";
import { maskedCrc32c } from "./masked-crc32c.js";
import {
  type BlockPlace,
  type IndexedBlock,
  parseDataBlockKeys,
  parseIndexBlock,
  parseMetaIndexBlock,
  TRAILER_BYTES,
  unpackBlock,
  VarintReader,
} from "./table-block.js";

// RocksDB block-based tables, format version 4 (`table/format.h`): data blocks, each with a trailer of compression type
// and masked CRC-32C; the footer leads to the index, which holds a key not before the last of each data block and where
// the block is.
const FOOTER_BYTES = 53;
const MAGIC = 0x88e241b785f4cff7n;
const CHECKSUM_CRC32C = 1;
const FORMAT_VERSION = 4;
const PROPERTIES = "rocksdb.properties";
const WINDOW_BYTES = 1 << 20;
/** An index key may end with the sequence number and type of RocksDB. */
const INTERNAL_KEY_BYTES = 8;

/** Keys that may be missing or wrong in a scan; both bounds included, undefined: open. */
export interface DamagedRange {
  readonly file: string;
  readonly offset: number;
  readonly lower: Uint8Array | undefined;
  readonly upper: Uint8Array | undefined;
}

/** What is left of a table. */
export interface TableContent {
  readonly damaged: readonly DamagedRange[];
  /** Keys of the blocks that are whole, when they were asked for. */
  readonly keys: readonly Uint8Array[];
  /** What is damaged that RocksDB believes without a check: it ends the process over it. */
  readonly deadly: "metaindex" | "properties" | undefined;
}

/** Checks every data block of a table file; `withKeys` also reads the keys of those that are whole. */
export async function readTable(file: string, withKeys: boolean): Promise<TableContent> {
  const handle = await open(file, "r");
  const unreadable = [{ file, offset: 0, lower: undefined, upper: undefined }];
  try {
    const frame = await readFrame(handle);
    if (frame === undefined) return { damaged: unreadable, keys: [], deadly: undefined };
    const { blocks, deadly, isOpened } = frame;
    const content = await readBlocks(handle, file, blocks, withKeys);
    return { damaged: isOpened ? content.damaged : unreadable, keys: content.keys, deadly };
  } finally {
    await handle.close();
  }
}

async function readBlocks(
  handle: FileHandle,
  file: string,
  blocks: readonly IndexedBlock[],
  withKeys: boolean,
): Promise<Omit<TableContent, "deadly">> {
  const damaged: DamagedRange[] = [];
  const keys: Uint8Array[] = [];
  let [buffer, other] = [Buffer.allocUnsafe(WINDOW_BYTES), Buffer.allocUnsafe(WINDOW_BYTES)];
  let reading = readWindow(handle, blocks, 0, buffer);
  for (let from = 0; from < blocks.length; ) {
    const window = await reading;
    const offset = blocks[from]?.offset ?? 0;
    // The next blocks are read while these are checked.
    [buffer, other] = [other, buffer];
    reading = readWindow(handle, blocks, window.end, buffer);
    reading.catch(() => undefined);
    for (const [index, block] of blocks.slice(from, window.end).entries()) {
      const at = block.offset - offset;
      if (blockIsWhole(window.bytes, at, block.size)) {
        // A copy: the keys are views on it, and the buffer is used again.
        if (withKeys) keys.push(...keysOf(Uint8Array.from(window.bytes.subarray(at, at + block.size + TRAILER_BYTES))));
        continue;
      }
      const before = blocks[from + index - 1]?.key;
      damaged.push({
        file,
        offset: block.offset,
        lower: before?.subarray(0, Math.max(0, before.length - INTERNAL_KEY_BYTES)),
        upper: block.key,
      });
    }
    from = window.end;
  }
  await reading;
  return { damaged, keys };
}

/** Reads blocks from `from` on, as many as the buffer holds, or one that is larger: up to `end`. */
async function readWindow(
  handle: FileHandle,
  blocks: readonly IndexedBlock[],
  from: number,
  buffer: Buffer,
): Promise<{ readonly bytes: Buffer; readonly end: number }> {
  const first = blocks[from];
  if (first === undefined) return { bytes: buffer.subarray(0, 0), end: from };
  const lengthTo = ({ offset, size }: IndexedBlock) => offset + size + TRAILER_BYTES - first.offset;
  let end = from + 1;
  for (let next = blocks[end]; next !== undefined; next = blocks[++end]) {
    if (next.offset < first.offset || lengthTo(next) > buffer.length) break;
  }
  const into = lengthTo(first) > buffer.length ? Buffer.allocUnsafe(lengthTo(first)) : buffer;
  const { bytesRead } = await handle.read(into, 0, into.length, first.offset);
  return { bytes: into.subarray(0, bytesRead), end };
}

function keysOf(stored: Uint8Array): Uint8Array[] {
  const block = unpackBlock(stored);
  return (block === undefined ? undefined : parseDataBlockKeys(block)) ?? [];
}

export function blockIsWhole(bytes: Buffer, at: number, size: number): boolean {
  if (at + size + TRAILER_BYTES > bytes.length) return false;
  return maskedCrc32c(bytes, at, at + size + 1) === bytes.readUInt32LE(at + size + 1);
}

export interface Frame {
  /** The data blocks in key order; none when the index is damaged. */
  readonly blocks: readonly IndexedBlock[];
  readonly deadly: TableContent["deadly"];
  /** Whether RocksDB opens the table: not without its index, nor with a damaged filter. */
  readonly isOpened: boolean;
}

/** What the footer leads to; undefined when it is no footer. */
export async function readFrame(handle: FileHandle): Promise<Frame | undefined> {
  const { size } = await handle.stat();
  if (size < FOOTER_BYTES) return undefined;
  const footer = await readBytes(handle, size - FOOTER_BYTES, FOOTER_BYTES);
  if (footer.length < FOOTER_BYTES || footer.readBigUInt64LE(FOOTER_BYTES - 8) !== MAGIC) return undefined;
  if (footer[0] !== CHECKSUM_CRC32C || footer.readUInt32LE(FOOTER_BYTES - 12) !== FORMAT_VERSION) return undefined;
  const handles = new VarintReader(footer, 1);
  const metaIndexAt = { offset: handles.next(), size: handles.next() };
  const indexAt = { offset: handles.next(), size: handles.next() };
  const metaIndex = await readBlock(handle, metaIndexAt, size);
  const meta = metaIndex === undefined ? undefined : parseMetaIndexBlock(metaIndex);
  const damaged = new Set<string>();
  for (const [name, place] of meta ?? []) {
    if ((await readBlock(handle, place, size)) === undefined) damaged.add(name);
  }
  const index = await readBlock(handle, indexAt, size);
  const blocks = index === undefined ? undefined : await parseIndexBlock(index);
  return {
    deadly: deadlyPart(meta, damaged),
    isOpened: blocks !== undefined && damaged.size === 0,
    blocks: blocks ?? [],
  };
}

/**
 * For its statistics RocksDB reads metaindex and properties without their checksums, at each opening, and asserts that
 * what it counts makes sense.
 */
function deadlyPart(
  meta: ReadonlyMap<string, BlockPlace> | undefined,
  damaged: ReadonlySet<string>,
): TableContent["deadly"] {
  if (meta === undefined) return "metaindex";
  return !meta.has(PROPERTIES) || damaged.has(PROPERTIES) ? "properties" : undefined;
}

/** The plain bytes of a block; undefined when it is damaged. */
async function readBlock(handle: FileHandle, place: BlockPlace, fileSize: number): Promise<Uint8Array | undefined> {
  const bytes = place.size + TRAILER_BYTES;
  if (!(place.offset + bytes <= fileSize)) return undefined;
  const stored = await readBytes(handle, place.offset, bytes);
  return blockIsWhole(stored, 0, place.size) ? unpackBlock(stored) : undefined;
}

async function readBytes(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  const { bytesRead } = await handle.read(buffer, 0, length, offset);
  return buffer.subarray(0, bytesRead);
}
