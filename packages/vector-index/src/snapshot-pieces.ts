import { type FileHandle, open, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ShoalError } from "@shoal/model";
import { rowRecordBytes } from "@shoal/native";
import {
  damaged,
  decodeHeader,
  decodeManifest,
  isSnapshotFile,
  type Manifest,
  nodesPath,
  rowsPath,
  settingsIn,
} from "./snapshot-manifest.js";
import type { VectorIndexSettings } from "./vector-index.js";

/** `dimensions` undefined: any. */
export type WantedSettings = Omit<VectorIndexSettings, "dimensions"> & { readonly dimensions: number | undefined };

/** So often is a snapshot opened whose files the next one has replaced meanwhile. */
const OPEN_ATTEMPTS = 5;

/** A snapshot as it is sent to another node: its manifest in one piece, then rows and nodes. Later snapshots do not change it. */
export interface SnapshotPieces {
  /** Vectors that its graph has linked. */
  readonly linked: number;
  /** The next piece, of at most `bytesMax` bytes, the first one excepted; undefined: that were all. */
  next(bytesMax: number): Promise<Buffer | undefined>;
  close(): Promise<void>;
}

/** Fails with `notFound` when there is none at `path`, and with `dataLoss` when it cannot be used. */
export async function openSnapshotPieces(path: string): Promise<SnapshotPieces> {
  for (let attempt = 1; ; attempt++) {
    const files: FileHandle[] = [];
    try {
      return await openFiles(path, files);
    } catch (thrown) {
      for (const file of files) await file.close();
      const isMissing = (thrown as NodeJS.ErrnoException).code === "ENOENT";
      if (isMissing && files.length > 0 && attempt < OPEN_ATTEMPTS) continue;
      if (thrown instanceof ShoalError) throw thrown;
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      const code = isMissing ? "notFound" : "unavailable";
      throw new ShoalError(code, `cannot open the vector index ${path}: ${reason}`, { cause: thrown });
    }
  }
}

/** What is open goes into `files`: they are read on when they have lost their names. */
async function openFiles(path: string, files: FileHandle[]): Promise<SnapshotPieces> {
  const opened = async (name: string): Promise<FileHandle> => {
    const file = await open(name, "r");
    files.push(file);
    return file;
  };
  const manifestBytes = await (await opened(path)).readFile();
  const manifest = readManifest(manifestBytes, undefined);
  const rows = await opened(rowsPath(path, manifest.seed));
  const nodes = await opened(nodesPath(path, manifest.seed, manifest.nodesFile));
  const parts = [
    { file: rows, bytes: rowsBytes(manifest) },
    { file: nodes, bytes: manifest.nodesBytes },
  ];
  let first: Buffer | undefined = manifestBytes;
  let at = 0;
  return {
    linked: manifest.linked,
    async next(bytesMax) {
      const piece = first;
      first = undefined;
      if (piece !== undefined) return piece;
      while (parts[0] !== undefined && at === parts[0].bytes) {
        parts.shift();
        at = 0;
      }
      const [part] = parts;
      if (part === undefined) return undefined;
      const bytes = Buffer.allocUnsafe(Math.min(bytesMax, part.bytes - at));
      const { bytesRead } = await part.file.read(bytes, 0, bytes.length, at);
      if (bytesRead === 0) throw damaged(`the vector index ${path} is cut short`);
      at += bytesRead;
      return bytes.subarray(0, bytesRead);
    },
    async close() {
      for (const file of files.splice(0)) await file.close();
    },
  };
}

/** Puts a snapshot together at a path where nothing else is. What is wrong in its rows and nodes is found when it is loaded. */
export class SnapshotReceiver {
  readonly #path: string;
  readonly #manifestBytes: Buffer;
  readonly #manifest: Manifest;
  #file: FileHandle | undefined;
  #at = 0;
  #isNodes = false;

  private constructor(path: string, manifestBytes: Buffer, manifest: Manifest) {
    this.#path = path;
    this.#manifestBytes = manifestBytes;
    this.#manifest = manifest;
  }

  /** Fails with `dataLoss` when the manifest is none, or that of other settings. */
  static async begin(path: string, settings: WantedSettings, manifestBytes: Buffer): Promise<SnapshotReceiver> {
    await removeSnapshotFiles(path);
    return new SnapshotReceiver(path, manifestBytes, readManifest(manifestBytes, settings));
  }

  get dimensions(): number {
    return this.#manifest.dimensions;
  }

  async take(bytes: Uint8Array): Promise<void> {
    const { seed, nodesFile, nodesBytes } = this.#manifest;
    if (!this.#isNodes && this.#at === rowsBytes(this.#manifest)) await this.#next();
    const end = this.#at + bytes.length;
    if (end > (this.#isNodes ? nodesBytes : rowsBytes(this.#manifest)))
      throw damaged("more came than its manifest says");
    const name = this.#isNodes ? nodesPath(this.#path, seed, nodesFile) : rowsPath(this.#path, seed);
    this.#file ??= await open(name, "w");
    await this.#file.writeFile(bytes);
    this.#at = end;
  }

  /** It can be loaded then. Fails with `dataLoss` when something is missing. */
  async finish(): Promise<void> {
    const { seed, nodesFile, nodesBytes } = this.#manifest;
    if (!this.#isNodes && this.#at === rowsBytes(this.#manifest)) await this.#next();
    await this.close();
    if (!this.#isNodes || this.#at !== nodesBytes) throw damaged("it is cut short");
    for (const name of [rowsPath(this.#path, seed), nodesPath(this.#path, seed, nodesFile)]) {
      await writeFile(name, "", { flag: "a" });
    }
    await writeFile(this.#path, this.#manifestBytes);
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  async #next(): Promise<void> {
    await this.close();
    this.#isNodes = true;
    this.#at = 0;
  }
}

/** Everything of a snapshot at `path`, whole or not; an index that was loaded from it goes on. */
export async function removeSnapshotFiles(path: string): Promise<void> {
  await rm(path, { force: true });
  for (const name of await readdir(dirname(path))) {
    if (isSnapshotFile(path, name)) await rm(join(dirname(path), name), { force: true });
  }
}

function readManifest(bytes: Buffer, settings: WantedSettings | undefined): Manifest {
  const own = settingsIn(bytes);
  const expected = { ...own, ...settings, dimensions: settings?.dimensions ?? own.dimensions };
  return decodeManifest(bytes, decodeHeader(bytes, expected));
}

function rowsBytes({ rows, dimensions }: Manifest): number {
  return rows * rowRecordBytes(dimensions);
}
