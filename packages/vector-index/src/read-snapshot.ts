import { type FileHandle, open } from "node:fs/promises";
import { basename } from "node:path";
import { ShoalError } from "@shoal/model";
import {
  BLOCK_HASH_OFFSET,
  BLOCK_HEADER_BYTES,
  BLOCK_KIND_OFFSET,
  BLOCK_KINDS,
  BLOCK_LENGTH_OFFSET,
  chainOf,
  NativeVectorIndex,
  rowRecordBytes,
} from "@shoal/native";
import type { Calibration } from "./calibration.js";
import { expectDone } from "./native-result.js";
import {
  damaged,
  deathBytes,
  decodeHeader,
  decodeManifest,
  HEADER_BYTES,
  lengthenChain,
  type Manifest,
  nodesPath,
  rowsPath,
  type SnapshotHeader,
} from "./snapshot-manifest.js";
import type { VectorIndexSettings } from "./vector-index.js";
import type { WrittenSnapshot } from "./write-snapshot.js";

/** No block is longer, and rows are read in pieces of so many bytes. */
const BLOCK_BYTES = 4 * 1024 * 1024;
/** More than what a manifest has beside a bit a row. */
const MANIFEST_BYTES_MAX = 4096;

export interface ReadSnapshot {
  readonly native: NativeVectorIndex;
  readonly sequence: number;
  /** What the next snapshot goes on with. */
  readonly written: WrittenSnapshot;
  /** Undefined where the snapshot has none. */
  readonly calibration: Calibration | undefined;
}

/**
 * Reads what `SnapshotWriter` wrote; of more than `rowsKept` rows, where codes suffice, float32 values do not stay in memory.
 * Fails with `dataLoss` unless every byte is as it was written for these settings.
 */
export async function readSnapshot(
  path: string,
  settings: VectorIndexSettings,
  rowsKept: number = Number.MAX_SAFE_INTEGER,
): Promise<ReadSnapshot> {
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
    const start = await readBytes(file, HEADER_BYTES);
    const header = decodeHeader(start, settings);
    const { written, calibration } = await readFiles({ path, file, native, rowsKept }, start, header);
    expectDone(await native.finishImport(header.rows, header.linked));
    return { native, sequence: header.sequence, written, calibration };
  } catch (error) {
    await native.close();
    const reason = error instanceof Error ? error.message : String(error);
    const code = error instanceof ShoalError ? error.code : "dataLoss";
    throw new ShoalError(code, `the vector index ${path} cannot be used: ${reason}`, { cause: error });
  } finally {
    await file.close();
  }
}

interface Loading {
  readonly path: string;
  readonly file: FileHandle;
  readonly native: NativeVectorIndex;
  readonly rowsKept: number;
}

async function readFiles(
  { path, file, native, rowsKept }: Loading,
  start: Buffer,
  header: SnapshotHeader,
): Promise<{ written: WrittenSnapshot; calibration: Calibration | undefined }> {
  const rest = await readBytes(file, deathBytes(header.rows) + MANIFEST_BYTES_MAX);
  const manifest = decodeManifest(Buffer.concat([start, rest]), header);
  const { seed, rows, rowsChain, linked, nodesFile, nodesBytes, nodesChain } = manifest;
  if (manifest.codesSuffice && rows > rowsKept) native.fillFrom(rowsPath(path, seed), { seed, chain: 0n }, rowsKept);
  await withFile(rowsPath(path, seed), (rowsFile) => readRows(rowsFile, native, manifest));
  expectDone(await native.importDeaths(Uint8Array.from(manifest.deaths)));
  const firstNodesBytes = await withFile(nodesPath(path, seed, nodesFile), (nodes) =>
    readNodes(nodes, native, manifest),
  );
  const generation = 0;
  const written = {
    path,
    seed,
    generation,
    rows,
    rowsChain,
    linked,
    nodesFile,
    nodesBytes,
    nodesChain,
    firstNodesBytes,
  };
  return { written, calibration: manifest.calibration };
}

async function withFile<T>(path: string, read: (file: FileHandle) => Promise<T>): Promise<T> {
  let file: FileHandle;
  try {
    file = await open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw damaged(`its file ${basename(path)} is missing`);
    throw error;
  }
  try {
    return await read(file);
  } catch (error) {
    if (!(error instanceof ShoalError)) throw error;
    throw new ShoalError(error.code, `${basename(path)}: ${error.message}`);
  } finally {
    await file.close();
  }
}

async function readRows(file: FileHandle, native: NativeVectorIndex, manifest: Manifest): Promise<void> {
  const { seed, rows, rowsChain } = manifest;
  const recordBytes = rowRecordBytes(manifest.dimensions);
  const atOnce = Math.max(1, Math.floor(BLOCK_BYTES / recordBytes));
  const bufferOf = buffersInTurn();
  const read = async (first: number): Promise<Buffer> => {
    const length = Math.min(atOnce, rows - first) * recordBytes;
    const records = await readBytes(file, length, bufferOf(length));
    if (records.length < length) throw damaged("it is cut short");
    return records;
  };
  let chain = 0n;
  let records = await read(0);
  for (let row = 0; row < rows; ) {
    // The next ones are read while these are taken in.
    const [result, following] = await Promise.all([
      native.importRows(row, { seed, chain }, records),
      read(row + records.length / recordBytes),
    ]);
    const { integers } = expectDone(result);
    row = integers[0] ?? 0;
    chain = chainOf(integers);
    records = following;
  }
  if (chain !== rowsChain) throw damaged("its vectors are not those of the snapshot");
}

/** Returns how many bytes of blocks hold nodes that stand there first. */
async function readNodes(file: FileHandle, native: NativeVectorIndex, manifest: Manifest): Promise<number> {
  let [chain, firstNodesBytes, node] = [0n, 0, 0];
  let left = manifest.nodesBytes;
  const bufferOf = buffersInTurn();
  const read = async (): Promise<Buffer> => {
    const block = await readBlock(file, left, bufferOf);
    left -= block.length;
    return block;
  };
  for (let block = await read(); block.length > 0; ) {
    const isChanged = block.readUInt32LE(BLOCK_KIND_OFFSET) === BLOCK_KINDS.changedNodes;
    const taken = native.importBlock(isChanged ? "changedNodes" : "nodes", isChanged ? 0 : node, block);
    const [result, following] = await Promise.all([taken, read()]);
    const [next = 0] = expectDone(result).integers;
    if (!isChanged) {
      node = next;
      firstNodesBytes += block.length;
    }
    chain = lengthenChain(chain, block.readBigUInt64LE(BLOCK_HASH_OFFSET));
    block = following;
  }
  if (chain !== manifest.nodesChain) throw damaged("its nodes are not those of the snapshot");
  return firstNodesBytes;
}

/**
 * Gives two buffers alternately, each as long as it was ever wanted: one is read into while the other is taken in. New ones would make V8
 * look for garbage several times in the start of a large index.
 */
function buffersInTurn(): (length: number) => Buffer {
  let [next, last] = [Buffer.alloc(0), Buffer.alloc(0)];
  return (length) => {
    [next, last] = [last, next.length < length ? Buffer.allocUnsafeSlow(length) : next];
    return last.subarray(0, length);
  };
}

/** One block with its header, of at most `left` bytes; empty at the end of these. */
async function readBlock(file: FileHandle, left: number, bufferOf: (length: number) => Buffer): Promise<Buffer> {
  if (left === 0) return Buffer.alloc(0);
  const header = await readBytes(file, BLOCK_HEADER_BYTES);
  if (header.length < BLOCK_HEADER_BYTES) throw damaged("it is cut short");
  const length = Number(header.readBigUInt64LE(BLOCK_LENGTH_OFFSET));
  if (length > Math.min(BLOCK_BYTES, left - BLOCK_HEADER_BYTES)) throw damaged("a block has an impossible length");
  const block = bufferOf(BLOCK_HEADER_BYTES + length);
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
