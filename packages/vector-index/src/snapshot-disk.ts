import { type FileHandle, open, readdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** A file that is written. */
export interface SnapshotFile {
  /** Bytes that it has. */
  size(): Promise<number>;
  /** Writes all of them at `position`. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** What writing a snapshot does to a disk: tests put a failing one in its place. */
export interface SnapshotDisk {
  /** Empties the file, or makes it. */
  create(path: string): Promise<SnapshotFile>;
  /** Fails when there is none. */
  open(path: string): Promise<SnapshotFile>;
  /** Durable when it resolves. */
  replace(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  list(folder: string): Promise<readonly string[]>;
}

class NodeFile implements SnapshotFile {
  readonly #file: FileHandle;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async size(): Promise<number> {
    return (await this.#file.stat()).size;
  }

  async write(bytes: Uint8Array, position: number): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const { bytesWritten } = await this.#file.write(bytes, at, bytes.length - at, position + at);
      at += bytesWritten;
    }
  }

  sync(): Promise<void> {
    return this.#file.sync();
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

export const NODE_DISK: SnapshotDisk = {
  create: async (path) => new NodeFile(await open(path, "w")),
  open: async (path) => new NodeFile(await open(path, "r+")),
  replace: async (from, to) => {
    await rename(from, to);
    const folder = await open(dirname(to), "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  },
  remove: (path) => rm(path, { force: true }),
  list: (folder) => readdir(folder),
};
