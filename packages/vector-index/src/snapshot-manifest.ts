// A snapshot is a manifest and two files beside it, which only grow. All numbers are little-endian.
//
// manifest = header, then the rest: seed u64, chain of the rows u64, number of the nodes' file u32, u32 (1: codes suffice to
//            walk by, so that rows need not be in memory), bytes of the nodes u64, chain of the nodes u64, one bit a row
//            (set: dead), the calibration, xxh3-64 u64 of all bytes before it
// header   = magic "SHOALVEC", format u32, dimensions u32, maxConnections u32, efConstruction u32, rows u32, linked u32,
//            sequence u64, xxh3-64 u64 of the bytes before it
// rows     = <path>.<seed in hex>.rows: a record a row (packages/native/cpp/row-records.h)
// nodes    = <path>.<seed in hex>.<number>.nodes: blocks of new and of changed nodes, in the order in which they count
//            (packages/native/cpp/snapshot-blocks.cc). The chain is made of the hashes of the blocks.
//
// What the two files hold beyond what the manifest names was written by a snapshot that did not come to its end. Format 1, one file,
// came before the first release: it is not read, and the index is built from the rows.
import { basename } from "node:path";
import { ShoalError } from "@shoal/model";
import { xxh3Matches, xxh3Write } from "@shoal/native";
import { type Calibration, decodeCalibration, encodeCalibration } from "./calibration.js";
import type { VectorIndexSettings } from "./vector-index.js";

const MAGIC = Buffer.from("SHOALVEC", "latin1");
const FORMAT = 2;
export const HEADER_BYTES = 48;
const HEADER_HASH_OFFSET = 40;
const BITS_OFFSET = 88;
const HASH_BYTES = 8;
const NOTHING = new Uint8Array(0);

export interface SnapshotHeader extends VectorIndexSettings {
  readonly rows: number;
  readonly linked: number;
  readonly sequence: number;
}

/** The files of a snapshot, and how much of them counts. */
export interface SnapshotFiles {
  readonly seed: bigint;
  readonly rowsChain: bigint;
  readonly nodesFile: number;
  readonly nodesBytes: number;
  readonly nodesChain: bigint;
}

export interface Manifest extends SnapshotHeader, SnapshotFiles {
  /** Whether codes were precise enough to walk the graph by: then rows need not be in memory. */
  readonly codesSuffice: boolean;
  readonly deaths: Uint8Array;
  readonly calibration: Calibration | undefined;
}

export function damaged(reason: string): ShoalError {
  return new ShoalError("dataLoss", reason);
}

export function deathBytes(rows: number): number {
  return Math.ceil(rows / 8);
}

export function rowsPath(path: string, seed: bigint): string {
  return `${path}.${seed.toString(16)}.rows`;
}

export function nodesPath(path: string, seed: bigint, nodesFile: number): string {
  return `${path}.${seed.toString(16)}.${nodesFile}.nodes`;
}

/** Whether a name in the folder of the snapshot `path` is that of one of its files, named by a manifest or not. */
export function isSnapshotFile(path: string, name: string): boolean {
  const base = basename(path);
  return name.startsWith(`${base}.`) && /^\.([0-9a-f]+\.rows|[0-9a-f]+\.\d+\.nodes|tmp)$/.test(name.slice(base.length));
}

/** The next link of the chain of nodes, from the hash of a block. */
export function lengthenChain(chain: bigint, hash: bigint): bigint {
  return BigInt.asUintN(64, (BigInt.asUintN(64, (chain << 5n) | (chain >> 59n)) ^ hash) * 0x9e3779b97f4a7c15n);
}

export function encodeManifest(manifest: Manifest): Buffer {
  const { dimensions, maxConnections, efConstruction, rows, linked, sequence, deaths } = manifest;
  const calibration = encodeCalibration(manifest.calibration);
  const bytes = Buffer.alloc(BITS_OFFSET + deaths.length + calibration.length + HASH_BYTES);
  MAGIC.copy(bytes);
  [FORMAT, dimensions, maxConnections, efConstruction, rows, linked].forEach((value, i) => {
    bytes.writeUInt32LE(value, MAGIC.length + 4 * i);
  });
  bytes.writeBigUInt64LE(BigInt(sequence), 32);
  xxh3Write(bytes.subarray(0, HEADER_HASH_OFFSET), NOTHING, bytes, HEADER_HASH_OFFSET);
  bytes.writeBigUInt64LE(manifest.seed, 48);
  bytes.writeBigUInt64LE(manifest.rowsChain, 56);
  bytes.writeUInt32LE(manifest.nodesFile, 64);
  bytes.writeUInt32LE(manifest.codesSuffice ? 1 : 0, 68);
  bytes.writeBigUInt64LE(BigInt(manifest.nodesBytes), 72);
  bytes.writeBigUInt64LE(manifest.nodesChain, 80);
  bytes.set(deaths, BITS_OFFSET);
  bytes.set(calibration, BITS_OFFSET + deaths.length);
  const end = bytes.length - HASH_BYTES;
  xxh3Write(bytes.subarray(0, end), NOTHING, bytes, end);
  return bytes;
}

/** The settings that a header names; of one that is none, anything. */
export function settingsIn(bytes: Buffer): VectorIndexSettings {
  if (bytes.length < HEADER_BYTES) throw damaged("it is shorter than its header");
  const number = (index: number): number => bytes.readUInt32LE(MAGIC.length + 4 * index);
  return { dimensions: number(1), maxConnections: number(2), efConstruction: number(3) };
}

/** What stands at the beginning. Fails with `dataLoss` unless it is as it was written for these settings. */
export function decodeHeader(bytes: Buffer, settings: VectorIndexSettings): SnapshotHeader {
  if (bytes.length < HEADER_BYTES) throw damaged("it is shorter than its header");
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) throw damaged("it is not a vector index snapshot");
  if (!xxh3Matches(bytes.subarray(0, HEADER_HASH_OFFSET), NOTHING, bytes, HEADER_HASH_OFFSET)) {
    throw damaged("the checksum of its header does not match");
  }
  const number = (index: number): number => bytes.readUInt32LE(MAGIC.length + 4 * index);
  const format = number(0);
  if (format !== FORMAT) throw damaged(`it has format ${format}, this version reads ${FORMAT}`);
  const header = {
    dimensions: number(1),
    maxConnections: number(2),
    efConstruction: number(3),
    rows: number(4),
    linked: number(5),
    sequence: Number(bytes.readBigUInt64LE(32)),
  };
  for (const name of ["dimensions", "maxConnections", "efConstruction"] as const) {
    if (header[name] !== settings[name]) throw damaged(`its ${name} is ${header[name]}, expected ${settings[name]}`);
  }
  if (header.linked > header.rows) throw damaged("its graph has more nodes than vectors");
  return header;
}

/** A manifest as a whole, whose header has been read. */
export function decodeManifest(bytes: Buffer, header: SnapshotHeader): Manifest {
  const end = bytes.length - HASH_BYTES;
  if (end < BITS_OFFSET) throw damaged("it is cut short");
  if (!xxh3Matches(bytes.subarray(0, end), NOTHING, bytes, end)) throw damaged("its checksum does not match");
  const calibrationAt = BITS_OFFSET + deathBytes(header.rows);
  if (end < calibrationAt) throw damaged("it is shorter than it says");
  return {
    ...header,
    seed: bytes.readBigUInt64LE(48),
    rowsChain: bytes.readBigUInt64LE(56),
    nodesFile: bytes.readUInt32LE(64),
    codesSuffice: bytes.readUInt32LE(68) === 1,
    nodesBytes: Number(bytes.readBigUInt64LE(72)),
    nodesChain: bytes.readBigUInt64LE(80),
    deaths: bytes.subarray(BITS_OFFSET, calibrationAt),
    calibration: decodeCalibration(bytes.subarray(calibrationAt, end)),
  };
}
