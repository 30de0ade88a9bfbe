import { setTimeout } from "node:timers/promises";
import type { RocksConnection } from "./rocks-connection.js";
import { isDiskFull } from "./rocks-error.js";

const POLL_MS = 50;
/** RocksDB tries again each second, and a flush of a memtable takes a fraction of one. */
const WAIT_MS_MAX = 5_000;

/** Of no record. */
const PROBE_KEY = Buffer.from("shoal: does RocksDB take writes?");

/**
 * Whether RocksDB may be closed. It tries a flush or a new log that has failed for want of room again each second, and a
 * close meanwhile never returns: its thread ends with `recovery_in_prog_` set, which `DBImpl::CloseHelper` waits for
 * (6.17, `ErrorHandler::RecoverFromRetryableBGIOError`). So does one that comes while a flush is about to fail.
 *
 * `failedWrite` is that of the last write, if it has failed.
 */
export async function isAtRest(connection: RocksConnection, failedWrite: unknown): Promise<boolean> {
  if (connection.property("rocksdb.num-immutable-mem-table") !== "0") return false;
  // Switched off while what was flushed or merged could not be noted down in the MANIFEST.
  if (connection.property("rocksdb.is-file-deletions-enabled") !== "1") return false;
  if (!isDiskFull(failedWrite) || isOfLogRecord(failedWrite)) return true;
  return takesWrites(connection);
}

/**
 * Waits some seconds at most until RocksDB may be closed. False when it may not be; `giveRoom` is called before, and may
 * help. A flush that goes on and has not failed is waited for, but is no reason against a close.
 */
export async function comesToRest(
  connection: RocksConnection,
  failedWrite: unknown,
  giveRoom: () => Promise<void>,
): Promise<boolean> {
  const hasFailed = () => isDiskFull(failedWrite) || connection.property("rocksdb.background-errors") !== "0";
  for (let waited = 0; !(await isAtRest(connection, failedWrite)); waited += POLL_MS) {
    if (waited >= WAIT_MS_MAX) return !hasFailed();
    if (hasFailed()) await giveRoom();
    await setTimeout(POLL_MS);
  }
  return true;
}

/** RocksDB goes on after such a failure. The log may have a torn record then: nothing may be written behind it. */
function isOfLogRecord(error: unknown): boolean {
  return error instanceof Error && /While appending to file: .*\.log/.test(error.message);
}

/** Until RocksDB has begun the log that it had no room for, it refuses writes before it touches a file. */
async function takesWrites(connection: RocksConnection): Promise<boolean> {
  const probe = connection.startBatch();
  // The addon does nothing for a batch without changes.
  probe.del(PROBE_KEY);
  try {
    await probe.write(false);
    return true;
  } catch {
    return false;
  }
}
