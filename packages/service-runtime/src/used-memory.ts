import { openSync, readSync } from "node:fs";

/**
 * Bytes of this process that the system cannot reclaim: anonymous pages, shared memory, and what of these is swapped out.
 * Pages of files, such as those of the program, are not among them. About 30 µs.
 */
export function usedMemory(read: () => string = readStatus): number {
  let status: string;
  try {
    status = read();
  } catch {
    return process.memoryUsage.rss();
  }
  const kib = (name: string): number | undefined => {
    const digits = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1];
    return digits === undefined ? undefined : Number(digits);
  };
  const anonymous = kib("RssAnon");
  // Not of Linux, or of one before 4.5.
  if (anonymous === undefined) return process.memoryUsage.rss();
  return (anonymous + (kib("RssShmem") ?? 0) + (kib("VmSwap") ?? 0)) * 1024;
}

/** Kept open: a process that can open no more files, as too many connections may make one, would end here. */
let file: number | undefined;
const STATUS_BYTES_MAX = 16_384;

function readStatus(): string {
  file ??= openSync("/proc/self/status", "r");
  const bytes = Buffer.allocUnsafe(STATUS_BYTES_MAX);
  return bytes.toString("latin1", 0, readSync(file, bytes, 0, STATUS_BYTES_MAX, 0));
}
