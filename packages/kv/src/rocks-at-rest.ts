import { access } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { PROBE_KEY } from "./batch-check.js";
import type { DiskBallast } from "./disk-ballast.js";
import type { RocksConnection } from "./rocks-connection.js";

// RocksDB 6.17 tries a flush or a new log that has failed with ENOSPC again each second, and a close between two tries
// never returns: its thread ends with `recovery_in_prog_` set, which `DBImpl::CloseHelper` waits for
// (`ErrorHandler::RecoverFromRetryableBGIOError`). So does a close that comes while a flush is about to fail.

const POLL_MS = 50;
/** RocksDB tries again each second, and a flush of a memtable takes a fraction of one. */
const WAIT_MS_MAX = 5_000;
const LATER_MS = 1_000;
/** Looks at a folder that is gone, after which RocksDB has tried again and has given up: that is another error. */
const GONE_LOOKS = 3;

/** Held, because the addon closes what is collected as garbage, and on the event loop. */
const leftOpen = new Set<RocksConnection>();

/** Whether RocksDB may be closed. `failedWrite` is the error of the last write, if that has failed. */
export async function isAtRest(connection: RocksConnection, failedWrite: Error | undefined): Promise<boolean> {
  if (failedWrite !== undefined && !isTriedAgain(failedWrite)) return true;
  if (failedWrite !== undefined ? isOfLog(failedWrite) : !hasFailedBehind(connection)) return !mustFlush(connection);
  // A write would wait for merges, and those may fail for ever, as where a table is gone. RocksDB begins them again by itself, and
  // a close does not wait for that.
  if (connection.property("rocksdb.is-write-stopped") === "1")
    return failedWrite === undefined && !mustFlush(connection);
  return takesWrites(connection);
}

/**
 * Closes a connection when that returns, or gives it up after some seconds: false. What has failed gets the room of the
 * ballast meanwhile. A flush that goes on and has not failed is waited for, but is no reason against a close.
 */
export async function closeAtRest(
  connection: RocksConnection,
  failedWrite: Error | undefined,
  ballast: DiskBallast | undefined,
  close: () => Promise<void>,
): Promise<boolean> {
  let room: AsyncDisposable | undefined;
  try {
    for (const end = performance.now() + WAIT_MS_MAX; !(await isAtRest(connection, failedWrite)); ) {
      const hasFailed = failedWrite !== undefined || hasFailedBehind(connection);
      if (performance.now() > end) {
        if (hasFailed) return false;
        break;
      }
      if (hasFailed) room ??= await ballast?.borrow();
      await setTimeout(POLL_MS);
    }
    await close();
    return true;
  } finally {
    await room?.[Symbol.asyncDispose]();
  }
}

/** Closes a connection that did not come to rest as soon as it has, or some seconds after its folder was removed. Never rejects. */
export async function closeLater(
  connection: RocksConnection,
  failedWrite: Error | undefined,
  close: () => Promise<void>,
): Promise<void> {
  leftOpen.add(connection);
  let goneLooks = 0;
  do {
    await setTimeout(LATER_MS, undefined, { ref: false });
    goneLooks = (await isThere(connection.folder)) ? 0 : goneLooks + 1;
  } while (goneLooks < GONE_LOOKS && !(await isAtRest(connection, failedWrite)));
  // What fails now has been told of as a store that could not be closed.
  await close().catch(() => undefined);
  leftOpen.delete(connection);
}

/** ENOSPC is; a quota, for one, is not. */
function isTriedAgain({ message }: Error): boolean {
  return /No space left on device/i.test(message);
}

/** RocksDB goes on after such a failure. The log may have a torn record then: nothing may be written behind it. */
function isOfLog({ message }: Error): boolean {
  return /While (appending to file|fdatasync|fsync): .*\.log/.test(message);
}

/** Whether a flush or a merge has failed, some time since the opening. */
function hasFailedBehind(connection: RocksConnection): boolean {
  return connection.property("rocksdb.background-errors") !== "0";
}

/** Also when a MANIFEST could not be written: removing files is switched off until it has been. */
function mustFlush(connection: RocksConnection): boolean {
  return (
    connection.property("rocksdb.num-immutable-mem-table") !== "0" ||
    connection.property("rocksdb.is-file-deletions-enabled") !== "1"
  );
}

/** While RocksDB tries again it refuses writes, before it touches a file. */
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

async function isThere(folder: string): Promise<boolean> {
  return access(folder).then(
    () => true,
    () => false,
  );
}
