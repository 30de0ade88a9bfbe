import { statfs } from "node:fs/promises";

/** Free bytes of the disk that holds a folder, and how many of them writes leave alone. */
export class DiskSpace {
  constructor(
    readonly folder: string,
    /** Room for what RocksDB does behind the writes: flushing memtables and merging files. */
    readonly reserveBytes: number,
  ) {}

  /** Bytes that this process may still use. */
  async freeBytes(): Promise<number> {
    const stats = await statfs(this.folder);
    return stats.bavail * stats.bsize;
  }
}
