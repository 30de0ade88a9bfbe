import { ShoalError } from "@shoal/model";

/** After how long it is worth asking again when the disk is full. */
export const DISK_FULL_RETRY_SECONDS = 2;

// RocksDB's errors reach us as texts, without codes: here and in `rocks-at-rest.ts` their texts are looked at.

/** Whether RocksDB failed because the disk is full (or the quota is used up). */
export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && /No space left on device|Disk quota exceeded|NoSpace/i.test(error.message);
}

/** Whether RocksDB or node failed because the process may not have more files open. */
function isOutOfFiles({ message }: Error): boolean {
  return /too many open files/i.test(message);
}

function outOfFiles(folder: string, error: Error): ShoalError {
  return new ShoalError(
    "unavailable",
    `store ${folder} cannot open its files, this process has too many open (ulimit -n): ${error.message}`,
    { cause: error },
  );
}

/** A failed read of RocksDB: damaged or unreadable bytes are `dataLoss`. */
export function readError(folder: string, error: Error): ShoalError {
  if (isOutOfFiles(error)) return outOfFiles(folder, error);
  if (/^(Corruption|IO error|Not implemented)/.test(error.message)) {
    return new ShoalError("dataLoss", `store ${folder} has damaged or unreadable data: ${error.message}`, {
      cause: error,
    });
  }
  return new ShoalError("internal", `store ${folder} failed to read: ${error.message}`, { cause: error });
}

/** A failed open of RocksDB, naming the folder. */
export function openError(folder: string, error: Error): ShoalError {
  const { message } = error;
  // Before the lock: its file is the first that cannot be opened then.
  if (isOutOfFiles(error)) return outOfFiles(folder, error);
  if (/^IO error:.*lock/i.test(message)) {
    return new ShoalError("unavailable", `store ${folder} is in use by another process: ${message}`, { cause: error });
  }
  if (isDiskFull(error)) {
    return new ShoalError("unavailable", `store ${folder} cannot be opened, the disk is full: ${message}`, {
      cause: error,
      retryAfterSeconds: DISK_FULL_RETRY_SECONDS,
    });
  }
  if (/Permission denied|Read-only file system/i.test(message)) {
    return new ShoalError("unavailable", `store ${folder} cannot be opened: ${message}`, { cause: error });
  }
  return new ShoalError("dataLoss", `store ${folder} cannot be opened, its files are damaged: ${message}`, {
    cause: error,
  });
}
