import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import { ShoalError } from "@shoal/model";
import {
  BLOCK_BYTES_MIN,
  BLOCK_HASH_OFFSET,
  chainOf,
  type Frozen,
  type NativeVectorIndex,
  rowRecordBytes,
} from "@shoal/native";
import type { Calibration } from "./calibration.js";
import { expectDone } from "./native-result.js";
import { NODE_DISK, type SnapshotDisk, type SnapshotFile } from "./snapshot-disk.js";
import {
  deathBytes,
  encodeManifest,
  isSnapshotFile,
  lengthenChain,
  nodesPath,
  rowsPath,
  type SnapshotFiles,
} from "./snapshot-manifest.js";
import type { VectorIndexSettings } from "./vector-index.js";

const BLOCK_BYTES = 4 * 1024 * 1024;

/** What a snapshot on disk holds of the index. */
export interface WrittenSnapshot extends SnapshotFiles {
  readonly path: string;
  /** Of the rows and nodes in memory; those of another one have other places. */
  readonly generation: number;
  readonly rows: number;
  readonly linked: number;
  /** Bytes of blocks in which nodes stood first: about what all nodes take once. The others say how nodes have changed. */
  readonly firstNodesBytes: number;
}

export interface SnapshotWriterOptions {
  /** What the index was loaded from. */
  readonly written?: WrittenSnapshot | undefined;
  readonly disk?: SnapshotDisk;
}

export interface SnapshotSource {
  /** The watermark now. */
  sequence(): number;
  /** What it has measured of itself. */
  calibration(): Calibration | undefined;
  /** Throws when the index is being closed. */
  check(): void;
  /** How many rows stay in memory whole. */
  rowsKept(): number;
}

/** A row that is written stays; of a node the last one counts. */
interface Progress extends WrittenSnapshot {
  readonly rowsFile: SnapshotFile;
  readonly nodesOpen: SnapshotFile;
}

/**
 * Writes an index to one path again and again, each time only what is new: rows that came, nodes that came or have other links.
 * Nodes are written again, to another file, when what has been replaced is more than what counts; all is when a rebuild has
 * given rows other places.
 */
export class SnapshotWriter {
  readonly #native: NativeVectorIndex;
  readonly #settings: VectorIndexSettings;
  readonly #disk: SnapshotDisk;
  #written: WrittenSnapshot | undefined;
  /** A failure may have come after the nodes were told that they are written: then all are written again. */
  #nodesKnown = true;
  /** Each attempt has a file of its own, for it is not known which manifest a failure has left. */
  #nodesFiles: number;

  constructor(native: NativeVectorIndex, settings: VectorIndexSettings, { written, disk }: SnapshotWriterOptions = {}) {
    this.#native = native;
    this.#settings = settings;
    this.#disk = disk ?? NODE_DISK;
    this.#written = written;
    this.#nodesFiles = written?.nodesFile ?? 0;
  }

  /** What the snapshot on disk takes, but for its manifest; 0 without one. */
  get fileBytes(): number {
    if (this.#written === undefined) return 0;
    const { rows, nodesBytes } = this.#written;
    return rows * rowRecordBytes(this.#settings.dimensions) + nodesBytes;
  }

  /** Returns the sequence number that the snapshot has. One call at a time. */
  async write(path: string, source: SnapshotSource): Promise<number> {
    try {
      return await this.#write(path, source);
    } catch (error) {
      this.#nodesKnown = false;
      await this.#disk.remove(`${path}.tmp`).catch(() => {});
      if (error instanceof ShoalError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new ShoalError("unavailable", `cannot write the vector index to ${path}: ${reason}`, { cause: error });
    }
  }

  async #write(path: string, source: SnapshotSource): Promise<number> {
    const attempt = new Attempt(this.#disk);
    try {
      expectDone(await this.#native.pin());
      let sequence: number;
      let deaths: Uint8Array;
      let progress: Progress;
      let frozen: Frozen;
      try {
        source.check();
        // One moment for both: nothing can be put between these two lines.
        sequence = source.sequence();
        frozen = this.#native.freeze();
        deaths = new Uint8Array(deathBytes(frozen.rows));
        expectDone(await this.#native.exportDeaths(deaths));
        progress = await this.#begin(path, frozen, attempt);
        progress = await this.#writeRows(progress, frozen, source);
        progress = await this.#writeNodes(progress, frozen, source);
      } finally {
        this.#native.unpin();
      }
      const { rowsFile, nodesOpen, ...written } = progress;
      await rowsFile.sync();
      await nodesOpen.sync();
      await this.#writeTemporary(
        `${path}.tmp`,
        encodeManifest({
          ...this.#settings,
          ...written,
          sequence,
          deaths,
          codesSuffice: frozen.codesSuffice,
          calibration: source.calibration(),
        }),
      );
      // From here on nobody knows which manifest counts until this one does.
      attempt.keepFiles();
      await this.#disk.replace(`${path}.tmp`, path);
      this.#written = written;
      this.#nodesKnown = true;
      await this.#removeOthers(written).catch(() => {});
      // What fails to leave memory now leaves it after the next snapshot.
      await this.release(source.rowsKept()).catch(() => {});
      return sequence;
    } finally {
      await attempt.end();
    }
  }

  async #begin(path: string, frozen: Frozen, attempt: Attempt): Promise<Progress> {
    const before = await this.#usable(path, frozen, attempt);
    const seed = before?.written.seed ?? randomBytes(8).readBigUInt64LE();
    const rowsFile = before?.rowsFile ?? (await attempt.create(rowsPath(path, seed)));
    const rows = before?.written ?? { rows: 0, rowsChain: 0n };
    const start = { path, seed, generation: frozen.generation, rows: rows.rows, rowsChain: rows.rowsChain, rowsFile };
    if (before?.nodesFile !== undefined) return { ...before.written, ...start, nodesOpen: before.nodesFile };
    const nodesFile = ++this.#nodesFiles;
    const nodesOpen = await attempt.create(nodesPath(path, seed, nodesFile));
    return { ...start, nodesOpen, nodesFile, nodesBytes: 0, nodesChain: 0n, firstNodesBytes: 0, linked: 0 };
  }

  /** The files of the snapshot before, if they can be gone on with. */
  async #usable(
    path: string,
    frozen: Frozen,
    attempt: Attempt,
  ): Promise<{ written: WrittenSnapshot; rowsFile: SnapshotFile; nodesFile: SnapshotFile | undefined } | undefined> {
    const written = this.#written;
    if (written === undefined || written.path !== path || written.generation !== frozen.generation) return undefined;
    const rowsFile = await attempt.open(
      rowsPath(path, written.seed),
      written.rows * rowRecordBytes(this.#settings.dimensions),
    );
    if (rowsFile === undefined) return undefined;
    const { firstNodesBytes, nodesBytes } = written;
    const worthwhile = this.#nodesKnown && nodesBytes <= 2 * firstNodesBytes;
    const nodesFile = worthwhile
      ? await attempt.open(nodesPath(path, written.seed, written.nodesFile), nodesBytes)
      : undefined;
    return { written, rowsFile, nodesFile };
  }

  async #writeRows(start: Progress, frozen: Frozen, source: SnapshotSource): Promise<Progress> {
    const recordBytes = rowRecordBytes(this.#settings.dimensions);
    let { rows, rowsChain } = start;
    const buffers = new Buffers((frozen.rows - rows) * recordBytes);
    await buffers.writeAll(start.rowsFile, rows * recordBytes, async (target) => {
      if (rows === frozen.rows) return undefined;
      source.check();
      const file = { seed: start.seed, chain: rowsChain };
      const { integers } = expectDone(await this.#native.exportRows(rows, file, target));
      rows = integers[1] ?? 0;
      rowsChain = chainOf(integers);
      return integers[0];
    });
    return { ...start, rows, rowsChain };
  }

  async #writeNodes(start: Progress, frozen: Frozen, source: SnapshotSource): Promise<Progress> {
    let { nodesBytes, nodesChain, firstNodesBytes } = start;
    const sections = [
      { kind: "changedNodes", next: 0, end: start.linked },
      { kind: "nodes", next: start.linked, end: frozen.linked },
    ] as const;
    const buffers = new Buffers(frozen.linked === 0 ? 0 : BLOCK_BYTES);
    for (const { kind, ...section } of sections) {
      let next: number = section.next;
      await buffers.writeAll(start.nodesOpen, nodesBytes, async (target) => {
        if (next === section.end) return undefined;
        source.check();
        const { integers } = expectDone(await this.#native.exportBlock(kind, next, section.end, target));
        const [bytes = 0, after = 0] = integers;
        next = after;
        if (bytes === 0) return undefined;
        nodesBytes += bytes;
        if (kind === "nodes") firstNodesBytes += bytes;
        nodesChain = lengthenChain(nodesChain, Buffer.from(target.buffer).readBigUInt64LE(BLOCK_HASH_OFFSET));
        return bytes;
      });
    }
    return { ...start, nodesBytes, nodesChain, firstNodesBytes, linked: frozen.linked };
  }

  async #writeTemporary(path: string, manifest: Uint8Array): Promise<void> {
    const file = await this.#disk.create(path);
    try {
      await file.write(manifest, 0);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  /** What the file of the last snapshot holds need not be in memory, beyond so many rows. Not during `write`. */
  async release(kept: number): Promise<void> {
    if (this.#written === undefined || this.#written.rows <= kept) return;
    const { path, seed, rows, rowsChain, generation } = this.#written;
    const file = { seed, chain: rowsChain };
    expectDone(await this.#native.release(rowsPath(path, seed), file, generation, kept, rows));
  }

  /** Files of snapshots before this one, and of attempts. */
  async #removeOthers({ path, seed, nodesFile }: WrittenSnapshot): Promise<void> {
    const folder = dirname(path);
    const named = new Set([rowsPath(path, seed), nodesPath(path, seed, nodesFile)]);
    for (const name of await this.#disk.list(folder)) {
      const file = join(folder, name);
      if (isSnapshotFile(path, name) && !named.has(file)) await this.#disk.remove(file);
    }
  }
}

/** The files of one snapshot while it is written. What it has made is gone when it fails: a full disk gets no fuller. */
class Attempt {
  readonly #disk: SnapshotDisk;
  readonly #opened: SnapshotFile[] = [];
  #created: string[] = [];

  constructor(disk: SnapshotDisk) {
    this.#disk = disk;
  }

  async create(path: string): Promise<SnapshotFile> {
    this.#created.push(path);
    return this.#keep(await this.#disk.create(path));
  }

  /** Undefined when the file is not there or has fewer bytes. */
  async open(path: string, bytes: number): Promise<SnapshotFile | undefined> {
    const file = await this.#disk.open(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    if (file === undefined) return undefined;
    return (await this.#keep(file).size()) < bytes ? undefined : file;
  }

  keepFiles(): void {
    this.#created = [];
  }

  async end(): Promise<void> {
    for (const file of this.#opened) await file.close();
    for (const path of this.#created) await this.#disk.remove(path).catch(() => {});
  }

  #keep(file: SnapshotFile): SnapshotFile {
    this.#opened.push(file);
    return file;
  }
}

/** Two buffers: while one goes to the file, the next bytes are made in the other. */
class Buffers {
  readonly #buffers: readonly [Uint8Array, Uint8Array];
  #turn = 0;

  constructor(bytesWanted: number) {
    const bytes = Math.min(BLOCK_BYTES, Math.max(BLOCK_BYTES_MIN, bytesWanted));
    this.#buffers = [new Uint8Array(bytes), new Uint8Array(bytes)];
  }

  /** `make` fills a buffer and tells how far; undefined: that is all. */
  async writeAll(
    file: SnapshotFile,
    position: number,
    make: (target: Uint8Array) => Promise<number | undefined>,
  ): Promise<void> {
    let written: Promise<void> = Promise.resolve();
    try {
      for (let at = position; ; ) {
        const target = this.#buffers[this.#turn++ % 2 === 0 ? 0 : 1];
        const bytes = await make(target);
        await written;
        if (bytes === undefined) return;
        written = file.write(target.subarray(0, bytes), at);
        // Looked at by the next await of it.
        written.catch(() => {});
        at += bytes;
      }
    } finally {
      await written;
    }
  }
}
