import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ShoalError } from "@shoal/model";
import { DiskBallast } from "./disk-ballast.js";
import { diskOf } from "./disk-of.js";
import { makeDurableFolder } from "./durable-files.js";
import { LOG_NOTE } from "./log-note.js";
import { finishReplacing } from "./replace-store.js";
import { closeAtRest, closeLater } from "./rocks-at-rest.js";
import type { DbOptions } from "./rocks-binding.js";
import { RocksConnection } from "./rocks-connection.js";
import { isDiskFull, openError } from "./rocks-error.js";
import { RocksStore } from "./rocks-store.js";
import { checkLogs, findStore, readTables } from "./store-files-check.js";
import { diskWriters } from "./thread-lanes.js";
import type { StoreState } from "./write-gate.js";

export interface RocksStoreOptions {
  /** Belongs to this store alone. */
  readonly folder: string;
  /**
   * Whether a store that is not there is made, with its folder and the parents of that. Without, it is `dataLoss`, and
   * nothing is written: the caller knows that it was made once.
   */
  readonly createIfMissing?: boolean;
  /** Memory for blocks of the files, uncompressed. `storeMemory` shares a total among stores. */
  readonly cacheBytes?: number;
  /** Size of a memtable; there are at most two. */
  readonly writeBufferBytes?: number;
  /** Bytes of the disk held back in a file of this folder, for opening while the disk is full. 0: none. */
  readonly ballastBytes?: number;
  /** A ballast that several stores of one disk share, instead of `ballastBytes`. */
  readonly ballast?: DiskBallast;
  /** Writes stop while less than this is free on the disk. */
  readonly diskReserveBytes?: number;
  readonly fullDiskRetryMs?: number;
  /** Snappy. Blocks that were written with it are read in any case. */
  readonly compression?: boolean;
  readonly openFilesMax?: number;
  /** Opens also when a log is damaged or missing: the acknowledged writes in it are gone then, the others are kept. */
  readonly acceptDamagedLogs?: boolean;
  /** Called when the files have been checked and RocksDB opens them, which leaves the event loop idle. */
  readonly onOpening?: () => void;
  /** Called when writes stop and when they come back. */
  readonly onState?: (state: StoreState, reason: string) => void;
}

const MIB = 1 << 20;
const BLOCK_BYTES = 2048;

/** What is used when an option is not given; the measurements are in the README. */
const ROCKS_STORE_DEFAULTS: Required<Omit<RocksStoreOptions, "folder" | "ballast" | "onOpening" | "onState">> = {
  createIfMissing: true,
  cacheBytes: 8 * MIB,
  writeBufferBytes: 8 * MIB,
  ballastBytes: 16 * MIB,
  diskReserveBytes: 32 * MIB,
  fullDiskRetryMs: 500,
  compression: false,
  openFilesMax: 256,
  acceptDamagedLogs: false,
};

/**
 * Opens or makes a store. Fails with `unavailable` when another process has it open or the disk has no room even without
 * the ballast, with `dataLoss` when RocksDB's own files are damaged; both name the folder.
 */
export async function openRocksStore(options: RocksStoreOptions): Promise<RocksStore> {
  const disk = await diskOf(options.folder);
  return diskWriters.run(disk, () => open(options, disk));
}

async function open(options: RocksStoreOptions, disk: number): Promise<RocksStore> {
  const settings = { ...ROCKS_STORE_DEFAULTS, ...options };
  const { acceptDamagedLogs, folder } = settings;
  await finishReplacing(folder, Date.now());
  const isThere = await findStore(folder);
  if (!isThere && !settings.createIfMissing) throw new ShoalError("dataLoss", `store ${folder} is missing`);
  await makeDurableFolder(folder).catch((error) => {
    throw openError(folder, ShoalError.from(error));
  });
  const ballast =
    settings.ballast ??
    (settings.ballastBytes > 0 ? new DiskBallast(join(folder, "BALLAST"), settings.ballastBytes) : undefined);
  const connect = () => connectWithBallast(folder, disk, dbOptions(settings), ballast);
  if (isThere && !acceptDamagedLogs) await checkLogs(folder);
  // All blocks, about 0.4 ms of CPU a MB, in steps of a few ms: a scan of a damaged one may miss records or end the process.
  const isDamaged = (await readTables(folder, false)).damaged.length > 0;
  options.onOpening?.();
  const connection = await connect();
  try {
    // It would tell the next opening of logs that are known to be lost.
    if (acceptDamagedLogs) await rm(join(folder, LOG_NOTE), { force: true });
    const store = new RocksStore({
      ...settings,
      disk,
      connection,
      connect,
      ballast,
      // Read again now that RocksDB has made a table of what was in the log.
      salvaged: isDamaged ? await readTables(folder, true) : undefined,
      now: () => performance.now(),
      onState: settings.onState ?? (() => {}),
    });
    await store.checkSpace();
    return store;
  } catch (error) {
    // The folder would stay held, and not open again in this process.
    const close = () => connection.close();
    if (!(await closeAtRest(connection, undefined, ballast, close))) void closeLater(connection, undefined, close);
    throw error;
  }
}

async function connectWithBallast(
  folder: string,
  disk: number,
  options: DbOptions,
  ballast: DiskBallast | undefined,
): Promise<RocksConnection> {
  const open = () => RocksConnection.open(folder, disk, options);
  try {
    return await open().catch((error) => {
      if (ballast === undefined || !isDiskFull(error)) throw error;
      return ballast.withRoom(open);
    });
  } catch (error) {
    throw openError(folder, ShoalError.from(error));
  }
}

function dbOptions(settings: typeof ROCKS_STORE_DEFAULTS): DbOptions {
  const size = (bytes: number) => Math.min(Math.max(0, Math.floor(bytes)), 2 ** 32 - 1);
  return {
    createIfMissing: true,
    compression: settings.compression,
    cacheSize: size(settings.cacheBytes),
    writeBufferSize: size(settings.writeBufferBytes),
    blockSize: BLOCK_BYTES,
    maxOpenFiles: size(settings.openFilesMax),
  };
}
