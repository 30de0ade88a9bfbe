import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { BLOCK_HEADER_BYTES, xxh3Write } from "@shoal/native";
import {
  decodeHeader,
  decodeManifest,
  isSnapshotFile,
  type Manifest,
  nodesPath,
  rowsPath,
} from "../snapshot-manifest.js";
import type { VectorIndexSettings } from "../vector-index.js";

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
