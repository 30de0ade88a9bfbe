import { DiskLanes } from "./disk-lanes.js";

const DEFAULT_THREADS = 4;
const THREADS_MAX = 1024;

/** Threads of libuv's pool, as it reads their number itself (`src/threadpool.c`, `init_threads`). */
export function poolThreads({ UV_THREADPOOL_SIZE: wanted }: NodeJS.ProcessEnv = process.env): number {
  if (wanted === undefined) return DEFAULT_THREADS;
  const threads = Number.parseInt(wanted, 10) || 1;
  return threads < 0 ? THREADS_MAX : Math.min(threads, THREADS_MAX);
}

// RocksDB and `node:fs` do their work on libuv's pool, beside everything else in the process that may wait: names of hosts, say. However
// many stores a disk has that stands still, its part of the threads is bounded for each purpose, and so is that of all disks: what
// wants another purpose or another disk gets on. `diskOf` says which disk a folder is on.
const lanes = (ofDisk: number, ofAll: number): DiskLanes => {
  const part = (fraction: number): number => Math.max(2, Math.floor(poolThreads() * fraction));
  return new DiskLanes(part(ofDisk), part(ofAll));
};

/** What writes to a disk and waits for it: commits with their syncs, openings, closings. */
export const diskWriters = lanes(1 / 4, 1 / 2);

/** What reads the files of stores that are open. */
export const diskReaders = lanes(1 / 4, 3 / 8);

/** What writes snapshots of indexes, in the background. */
export const snapshotWriters = lanes(1 / 16, 1 / 16);
