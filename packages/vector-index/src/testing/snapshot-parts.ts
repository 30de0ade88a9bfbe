import { readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { BLOCK_HEADER_BYTES, BLOCK_KIND_OFFSET, rowRecordBytes, xxh3Write } from "@shoal/native";
import {
  deathBytes,
  decodeHeader,
  decodeManifest,
  HEADER_BYTES,
  isSnapshotFile,
  type Manifest,
  nodesPath,
  rowsPath,
} from "../snapshot-manifest.js";
import type { VectorIndexSettings } from "../vector-index.js";

const NOTHING = new Uint8Array(0);

/** Paths of all files of a snapshot, the manifest first. */
export async function snapshotPaths(path: string): Promise<string[]> {
  const names = (await readdir(dirname(path))).filter((name) => isSnapshotFile(path, name));
  return [path, ...names.sort().map((name) => join(dirname(path), name))];
}

/** Puts all files of a snapshot back as they are now, and takes others away. */
export async function keepSnapshot(path: string): Promise<ReadonlyMap<string, Buffer>> {
  return new Map(
    await Promise.all((await snapshotPaths(path)).map(async (one) => [one, await readFile(one)] as const)),
  );
}

export async function readManifest(path: string, settings: VectorIndexSettings): Promise<Manifest> {
  const bytes = await readFile(path);
  return decodeManifest(bytes, decodeHeader(bytes, settings));
}

export async function readPart(path: string, settings: VectorIndexSettings, part: "rows" | "nodes"): Promise<Buffer> {
  const { seed, nodesFile } = await readManifest(path, settings);
  return readFile(part === "rows" ? rowsPath(path, seed) : nodesPath(path, seed, nodesFile));
}

/** Writes a hash into its place in a block or record whose other bytes were changed. */
export function sealBlock(block: Buffer): void {
  xxh3Write(block.subarray(0, 24), block.subarray(BLOCK_HEADER_BYTES), block, 24);
}
export function sealRecord(record: Buffer, seed: bigint, row: number): void {
  const place = Buffer.alloc(16);
  place.writeBigUInt64LE(seed);
  place.writeBigUInt64LE(BigInt(row), 8);
  xxh3Write(place, record.subarray(8), record, 0);
}

/** Makes of a snapshot the one file that versions before format 2 wrote. Its nodes may not have changed since it was begun. */
export async function writeWholeFormat(path: string, settings: VectorIndexSettings, to: string): Promise<void> {
  const manifest = await readManifest(path, settings);
  const { rows, dimensions } = manifest;
  const records = await readPart(path, settings, "rows");
  const nodes = await readPart(path, settings, "nodes");
  if (nodes.length > 0 && nodes.readUInt32LE(BLOCK_KIND_OFFSET) !== 2) throw new Error(`${basename(path)} has changes`);
  const header = Buffer.from((await readFile(path)).subarray(0, HEADER_BYTES));
  header.writeUInt32LE(1, 8);
  xxh3Write(header.subarray(0, 40), NOTHING, header, 40);
  const deadBytes = Math.ceil(rows / 32) * 4;
  const block = Buffer.alloc(BLOCK_HEADER_BYTES + rows * 4 + deadBytes + rows * dimensions * 4);
  block.write("SHB1", "latin1");
  block.writeUInt32LE(1, 4);
  block.writeUInt32LE(rows, 12);
  block.writeBigUInt64LE(BigInt(block.length - BLOCK_HEADER_BYTES), 16);
  const recordBytes = rowRecordBytes(dimensions);
  block.set(manifest.deaths.subarray(0, deathBytes(rows)), BLOCK_HEADER_BYTES + rows * 4);
  for (let row = 0; row < rows; row++) {
    const record = records.subarray(row * recordBytes, (row + 1) * recordBytes);
    record.copy(block, BLOCK_HEADER_BYTES + row * 4, 8, 12);
    record.copy(block, BLOCK_HEADER_BYTES + rows * 4 + deadBytes + row * dimensions * 4, 16);
  }
  sealBlock(block);
  await writeFile(to, Buffer.concat([header, ...(rows > 0 ? [block] : []), nodes]));
}
