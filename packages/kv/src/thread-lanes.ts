import { poolThreads } from "@shoal/runtime";
import { DiskLanes } from "./disk-lanes.js";

/**
 * RocksDB and `node:fs` do their work on libuv's pool, beside everything else in the process that may wait: names of hosts, say.
 * However many stores a disk has that stands still, its part of the `threads` is bounded for each purpose, and so is that of all disks:
 * what wants another purpose or another disk gets on. `diskOf` says which disk a folder is on.
 */
export function threadLanes(threads: number) {
  const lanes = (ofDisk: number, ofAll: number, least: number): DiskLanes => {
    const part = (fraction: number): number => Math.max(least, Math.floor(threads * fraction));
    return new DiskLanes(part(ofDisk), part(ofAll));
  };
  return {
    /** What writes to a disk and waits for it: commits with their syncs, openings, closings. */
    diskWriters: lanes(1 / 4, 1 / 2, 2),
    /** What reads the files of stores that are open. */
    diskReaders: lanes(1 / 4, 3 / 8, 2),
    /** What writes snapshots of indexes, in the background. */
    snapshotWriters: lanes(1 / 16, 3 / 32, 1),
  };
}

/** Without a number that it can read, libuv takes one thread. */
export const { diskWriters, diskReaders, snapshotWriters } = threadLanes(poolThreads(process.env) ?? 1);
