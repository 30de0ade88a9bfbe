// The file of an index. All numbers are little-endian.
//
// header  = magic "SHOALVEC", format u32, dimensions u32, maxConnections u32, efConstruction u32, rows u32, linked u32,
//           sequence u64, xxh3-64 u64 of the bytes before it
// then    = blocks of rows 0 to rows - 1, then blocks of nodes 0 to linked - 1; each with its own checksum
//           (packages/native/cpp/snapshot-blocks.cc)
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { ShoalError } from "@shoal/model";
import {
  BLOCK_HEADER_BYTES,
  BLOCK_LENGTH_OFFSET,
  type BlockKind,
  NativeVectorIndex,
  xxh3Matches,
  xxh3Write,
} from "@shoal/native";
import { expectDone } from "./native-answer.js";
import type { VectorIndexSettings } from "./vector-index.js";

const MAGIC = Buffer.from("SHOALVEC", "latin1");
const FORMAT = 1;
const HEADER_BYTES = 48;
const HASH_OFFSET = 40;
const BLOCK_BYTES = 4 * 1024 * 1024;
const NOTHING = new Uint8Array(0);

interface Header extends VectorIndexSettings {
  readonly rows: number;
  readonly linked: number;
  readonly sequence: number;
}

interface SnapshotSource {
  /** The watermark now. */
  sequence(): number;
  /** Throws when the index is being closed. */
  check(): void;
}

function encodeHeader(header: Header): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(bytes);
  const { dimensions, maxConnections, efConstruction, rows, linked } = header;
  [FORMAT, dimensions, maxConnections, efConstruction, rows, linked].forEach((value, i) => {
    bytes.writeUInt32LE(value, 8 + 4 * i);
  });
  bytes.writeBigUInt64LE(BigInt(header.sequence), 32);
  xxh3Write(bytes.subarray(0, HASH_OFFSET), NOTHING, bytes, HASH_OFFSET);
  return bytes;
}

function decodeHeader(bytes: Buffer): Header {
  if (bytes.length < HEADER_BYTES) throw damaged("it is shorter than its header");
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw damaged("it is not a vector index snapshot");
  if (!xxh3Matches(bytes.subarray(0, HASH_OFFSET), NOTHING, bytes, HASH_OFFSET)) {
    throw damaged("the checksum of its header does not match");
  }
  const format = bytes.readUInt32LE(8);
  if (format !== FORMAT) throw damaged(`it has format ${format}, this version reads ${FORMAT}`);
  const number = (index: number): number => bytes.readUInt32LE(8 + 4 * index);
  return {
    dimensions: number(1),
    maxConnections: number(2),
    efConstruction: number(3),
    rows: number(4),
    linked: number(5),
    sequence: Number(bytes.readBigUInt64LE(32)),
  };
}

function damaged(reason: string): ShoalError {
  return new ShoalError("dataLoss", reason);
}

/**
 * Writes the index to `path` by way of a temporary file beside it, and returns the sequence number that the file has.
 * The graph stands still while its blocks are copied out, not while the disk is waited for at the end.
 */
export async function writeSnapshot(
  path: string,
  native: NativeVectorIndex,
  settings: VectorIndexSettings,
  source: SnapshotSource,
): Promise<number> {
  const temporary = `${path}.tmp`;
  try {
    const file = await open(temporary, "w");
    let sequence: number;
    try {
      sequence = await writeBlocks(file, native, settings, source);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    const folder = await open(dirname(path), "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
    return sequence;
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    if (error instanceof ShoalError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new ShoalError("unavailable", `cannot write the vector index to ${path}: ${reason}`, { cause: error });
  }
}

async function writeBlocks(
  file: FileHandle,
  native: NativeVectorIndex,
  settings: VectorIndexSettings,
  source: SnapshotSource,
): Promise<number> {
  expectDone(await native.pin());
  try {
    source.check();
    // One moment for both: nothing can be put between these two lines.
    const sequence = source.sequence();
    const { rows, linked } = native.freeze();
    await writeAll(file, encodeHeader({ ...settings, rows, linked, sequence }));
    // While one buffer goes to the file, the next block is made in the other.
    const buffers = [new Uint8Array(BLOCK_BYTES), new Uint8Array(BLOCK_BYTES)] as const;
    let turn = 0;
    let written: Promise<void> = Promise.resolve();
    const sections: readonly (readonly [BlockKind, number])[] = [
      ["rows", rows],
      ["nodes", linked],
    ];
    try {
      for (const [kind, count] of sections) {
        for (let first = 0; first < count; ) {
          source.check();
          const target = buffers[turn++ % 2 === 0 ? 0 : 1];
          const [bytes = 0, next = 0] = expectDone(await native.exportBlock(kind, first, target)).integers;
          await written;
          written = writeAll(file, target.subarray(0, bytes));
          first = next;
        }
      }
    } finally {
      await written;
    }
    return sequence;
  } finally {
    native.unpin();
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at);
    at += bytesWritten;
  }
}

/** Reads what `writeSnapshot` wrote. Fails with `dataLoss` unless every byte is as it was written for these settings. */
export async function readSnapshot(
  path: string,
  settings: VectorIndexSettings,
): Promise<{ native: NativeVectorIndex; sequence: number }> {
  let file: FileHandle;
  try {
    file = await open(path, "r");
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    const reason = error instanceof Error ? error.message : String(error);
    throw new ShoalError(missing ? "notFound" : "unavailable", `cannot open the vector index ${path}: ${reason}`, {
      cause: error,
    });
  }
  const native = new NativeVectorIndex(settings.dimensions, settings.maxConnections, settings.efConstruction);
  try {
    const header = decodeHeader(await readBytes(file, HEADER_BYTES));
    for (const name of ["dimensions", "maxConnections", "efConstruction"] as const) {
      if (header[name] !== settings[name]) throw damaged(`its ${name} is ${header[name]}, expected ${settings[name]}`);
    }
    if (header.linked > header.rows) throw damaged("its graph has more nodes than vectors");
    await readBlocks(file, native, header);
    return { native, sequence: header.sequence };
  } catch (error) {
    await native.close();
    const reason = error instanceof Error ? error.message : String(error);
    const code = error instanceof ShoalError ? error.code : "dataLoss";
    throw new ShoalError(code, `the vector index ${path} cannot be used: ${reason}`, { cause: error });
  } finally {
    await file.close();
  }
}

async function readBlocks(file: FileHandle, native: NativeVectorIndex, header: Header): Promise<void> {
  let block = await readBlock(file);
  const sections: readonly (readonly [BlockKind, number])[] = [
    ["rows", header.rows],
    ["nodes", header.linked],
  ];
  for (const [kind, count] of sections) {
    for (let first = 0; first < count; ) {
      if (block.length === 0) throw damaged("it is cut short");
      // The next block is read while this one is taken in.
      const [answer, following] = await Promise.all([native.importBlock(kind, first, block), readBlock(file)]);
      first = expectDone(answer).integers[0] ?? 0;
      if (first > count) throw damaged(`it has more ${kind} than announced`);
      block = following;
    }
  }
  if (block.length > 0) throw damaged("unknown bytes follow its last block");
  expectDone(await native.finishImport(header.rows, header.linked));
}

/** One block with its header; empty at the end of the file. */
async function readBlock(file: FileHandle): Promise<Buffer> {
  const header = await readBytes(file, BLOCK_HEADER_BYTES);
  if (header.length === 0) return header;
  if (header.length < BLOCK_HEADER_BYTES) throw damaged("it is cut short");
  const length = Number(header.readBigUInt64LE(BLOCK_LENGTH_OFFSET));
  if (length > BLOCK_BYTES) throw damaged("a block has an impossible length");
  const block = Buffer.allocUnsafeSlow(BLOCK_HEADER_BYTES + length);
  header.copy(block);
  const payload = await readBytes(file, length, block.subarray(BLOCK_HEADER_BYTES));
  if (payload.length < length) throw damaged("it is cut short");
  return block;
}

/** Up to `length` bytes: fewer at the end of the file. */
async function readBytes(
  file: FileHandle,
  length: number,
  into: Buffer = Buffer.allocUnsafeSlow(length),
): Promise<Buffer> {
  let at = 0;
  while (at < length) {
    const { bytesRead } = await file.read(into, at, length - at, null);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return into.subarray(0, at);
}
