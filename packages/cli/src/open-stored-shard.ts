import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createInvertedIndex, type IndexMemory, type LongReads } from "@shoal/inverted-index";
import {
  type DiskBallast,
  isStoreFolder,
  openRocksStore,
  type RocksStore,
  type StoreState,
  storeMemory,
} from "@shoal/kv";
import { ShoalError } from "@shoal/model";
import type { ClassRecord, ShardAddress } from "@shoal/rpc";
import type { Gate, MemoryBudget } from "@shoal/runtime";
import type { Logger } from "@shoal/service-runtime";
import { type IdPresenceFilter, openShard, type RowCacheBudget, type ShardEvent } from "@shoal/shard";
import { type OpenedShard, rowsFolder, shardSettings } from "@shoal/storage-node";
import { createVectorIndex, loadVectorIndex } from "@shoal/vector-index";

export interface StoredShardSettings {
  /** Whether a shard that was made goes on without what is lost of it. */
  readonly acceptDataLoss: boolean;
  readonly ballast: DiskBallast;
  readonly clock: () => number;
  readonly hashSeed: number;
  /** Shared by all shards of this node. */
  readonly idPresenceFilter: IdPresenceFilter;
  /** Shared by all shards of this node. */
  readonly indexMemory: IndexMemory;
  readonly logger: Logger;
  readonly nodeName: string;
  /** Shared by all shards of this node. */
  readonly longReads: LongReads;
  readonly memory: MemoryBudget;
  readonly objectBytesMax: number;
  /** Shared by all shards of this node. */
  readonly rowCache: RowCacheBudget;
  readonly rowReads: Gate;
  readonly storeMemoryBytes: number;
  /** Files that the store of each of so many shards may have open. */
  readonly storeFilesMax: (shardCount: number) => number;
  /** Shards that share the memory of the stores, as of now; a store keeps the share it was opened with. */
  readonly shardCount: () => number;
  /** The store is open, and the snapshots are read. */
  readonly onReading: () => void;
  readonly onStoreState: (state: StoreState) => void;
  /** After a snapshot: much of what was needed for the changes that are in it is free now. */
  readonly onSnapshot: () => void;
}

/**
 * Opens the RocksDB store of a shard and the shard on it. One that was made before (`isMade`) and is not there is
 * `dataLoss`: served empty it would be found empty by everybody.
 */
export async function openStoredShard(
  settings: StoredShardSettings,
  address: ShardAddress,
  record: ClassRecord,
  folder: string,
  isMade: boolean,
): Promise<OpenedShard> {
  const { clock, hashSeed, idPresenceFilter, indexMemory, logger, rowCache, rowReads } = settings;
  const { longReads, memory } = settings;
  const where = { class: address.className, shard: address.shardName };
  const store = await openStore(settings, where, folder, isMade);
  settings.onReading();
  try {
    const shard = await openShard({
      store,
      folder: viewsFolder(folder),
      className: address.className,
      shardName: address.shardName,
      epoch: address.epoch ?? 1,
      ...shardSettings(record, settings.nodeName),
      dimensions: record.dimensions,
      vectorIndexes: { create: createVectorIndex, load: loadVectorIndex },
      createIndex: (site) => createInvertedIndex({ ...site, memory: indexMemory, longReads }),
      clock,
      hashSeed,
      idPresenceFilter,
      memory,
      rowCache,
      rowReads,
      limits: { objectBytesMax: settings.objectBytesMax },
      onEvent: (event) => {
        logShardEvent(logger, where, event);
        if (event.type === "snapshotWritten") settings.onSnapshot();
      },
    });
    return { shard, store };
  } catch (thrown) {
    await store[Symbol.asyncDispose]();
    throw thrown;
  }
}

async function openStore(
  settings: StoredShardSettings,
  where: object,
  shardFolder: string,
  isMade: boolean,
): Promise<RocksStore> {
  const folder = rowsFolder(shardFolder);
  const { acceptDataLoss, ballast, logger, onStoreState, storeFilesMax, storeMemoryBytes } = settings;
  const shardCount = Math.max(1, settings.shardCount());
  const open = (isLossAccepted: boolean): Promise<RocksStore> =>
    openRocksStore({
      folder,
      createIfMissing: !isMade || isLossAccepted,
      acceptDamagedLogs: isLossAccepted,
      ballast,
      openFilesMax: storeFilesMax(shardCount),
      ...storeMemory(storeMemoryBytes, shardCount),
      onState: (state, reason) => {
        onStoreState(state);
        logger[state === "closed" ? "debug" : "warn"]({ ...where, state, reason }, "store state changed");
      },
    });
  try {
    return await open(false);
  } catch (thrown) {
    const error = ShoalError.from(thrown);
    if (error.code !== "dataLoss") throw error;
    if (!acceptDataLoss) throw new ShoalError("dataLoss", `${error.message}. ${WAYS_OUT}`, { cause: error });
    logger.warn(
      { ...where, error },
      "the shard goes on without what it has lost, as CLUSTER_ACCEPT_DATA_LOSS=true says",
    );
    // Without the rows nothing of them is to be known: the shard begins empty.
    if (!(await isStoreFolder(folder))) await rm(viewsFolder(shardFolder), { recursive: true, force: true });
    return open(true);
  }
}

function viewsFolder(shardFolder: string): string {
  return join(shardFolder, "views");
}

const WAYS_OUT =
  "Mount the right volume, or put it back from a backup of this node: it is opened then without a restart. 'shoal repair' " +
  "rebuilds damaged files from what they still hold, while the node is stopped. A start with CLUSTER_ACCEPT_DATA_LOSS=true " +
  "goes on without folders and logs that are lost";

function logShardEvent(logger: Logger, where: object, event: ShardEvent): void {
  const { type, ...fields } = event;
  switch (type) {
    case "damageFound":
      logger.error({ ...where, ...fields }, "damage found");
      break;
    case "writesFailed":
    case "snapshotFailed":
    case "indexFailed":
      logger.error({ ...where, ...fields }, FAILURES[type]);
      break;
    case "recallMeasured":
      if (event.recall.recall < event.recall.target)
        logger.warn({ ...where, ...fields }, "searches find less than their target");
      else logger.debug({ ...where, ...fields }, "recall measured");
      break;
    case "snapshotWritten":
      logger.debug({ ...where, ...fields }, "snapshot written");
      break;
    case "recovered":
    case "writesResumed":
    case "indexBuilt":
    case "vectorsReloaded":
      logger.info({ ...where, ...fields }, NEWS[type]);
      break;
  }
}

const FAILURES = {
  writesFailed: "writes failed",
  snapshotFailed: "snapshot failed",
  indexFailed: "inverted index could not be built",
} as const;

const NEWS = {
  recovered: "shard open",
  writesResumed: "writes resumed",
  indexBuilt: "inverted index built from the rows",
  vectorsReloaded: "vector index built from the rows, to give back the memory of removed vectors",
} as const;
