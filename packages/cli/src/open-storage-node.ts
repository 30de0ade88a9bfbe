import { randomBytes, randomInt } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createInvertedIndex, IndexMemory, LongReads } from "@shoal/inverted-index";
import {
  type DiskBallast,
  endAfterStoreFailure,
  isStoreFolder,
  makeDurableFolder,
  openRocksStore,
  type RocksStore,
  storeMemory,
} from "@shoal/kv";
import { ShoalError } from "@shoal/model";
import { holdLinks } from "@shoal/native";
import { type ClassRecord, initialConfigurations, type ShardAddress } from "@shoal/rpc";
import type { MemoryBudget } from "@shoal/runtime";
import type { Logger, Metrics, ResourceScope } from "@shoal/service-runtime";
import {
  type CopyOptions,
  checkRoomForShards,
  IdPresenceFilter,
  openShard,
  RowCacheBudget,
  rowReadGate,
  type ShardEvent,
} from "@shoal/shard";
import {
  type DropConfirmationOptions,
  type FollowedSchema,
  keepNodeIdentity,
  type NodeCopies,
  type NodeIdentity,
  type OpenedShard,
  openMadeShard,
  rowsFolder,
  ShardFolders,
  type ShardRegistryEvent,
  StorageNode,
  shardSettings,
  WAY_OUT_OF_COPY,
} from "@shoal/storage-node";
import { createVectorIndex, loadVectorIndex } from "@shoal/vector-index";
import { returnFreeMemoryOnce, watchRest } from "./give-memory-back.js";
import { describeStorageMetrics } from "./internal-port.js";
import { describeCopyStates } from "./open-copies.js";
import { filesOfStore, type OpenFilesPlan, planFor } from "./open-files.js";
import { openMemoryBudget, watchMemory } from "./open-memory-budget.js";
import type { ProcessOptions } from "./process-options.js";
import { hasList, shardsPlacedOn } from "./refuse-lost-data.js";

/**
 * So long after the shards began to be opened, vectors that are not linked yet wait: the first responses come sooner. Nearly always the start
 * is over by then.
 */
const LINKS_WAIT_MS = 1_000;

/** Whose a data folder is. */
type FolderOwner = Pick<NodeIdentity, "name" | "clusterId" | "secret">;

/**
 * Makes the folder the node's own; one of an earlier version gets its secret now. Fails when a new folder cannot be named; elsewhere
 * what is stored is served all the same, on a full disk say.
 */
export async function nameFolder(
  dataPath: string,
  { name, isNew, secret }: NodeIdentity,
  clusterId: string | undefined,
  logger: Logger,
): Promise<FolderOwner> {
  const owner = { name, clusterId, secret: secret || randomBytes(32).toString("hex") };
  await keepNodeIdentity(dataPath, owner).catch((error: unknown) => {
    if (isNew) throw error;
    logger.warn({ error }, "the cluster's id could not be stored beside the data");
  });
  return owner;
}

export interface StorageNodeParts {
  /** Whose the folder is: it keeps that there is a list of shards, too. */
  readonly owner: FolderOwner;
  readonly dataPath: string;
  readonly ballast: DiskBallast;
  /** Followed; the shards that it has at the start must fit into the open files. */
  readonly schema: FollowedSchema;
  readonly openFiles: OpenFilesPlan;
  /** Who hears of classes that nothing more is written into, and when that holds over a restart. */
  readonly drops: Pick<DropConfirmationOptions, "nodes" | "kept">;
  /** Absent: no shard here has copies elsewhere. */
  readonly copies?: NodeCopies;
  /** Called at the start with how many shards are open, or have failed, of how many. */
  readonly onProgress: (done: number, all: number) => void;
  /** Called for each shard when its store is opened and its snapshots are read, which leaves the event loop idle. */
  readonly onReading?: () => void;
  readonly metrics: Metrics | undefined;
}

/**
 * The storage node on its folder, all its shards open or known to have failed; what is left for connections; and what fails when
 * there is no memory for so many shards more.
 */
export async function openStorageNode(
  options: ProcessOptions,
  parts: StorageNodeParts,
  scope: ResourceScope,
): Promise<{
  readonly node: StorageNode;
  readonly openFiles: OpenFilesPlan;
  readonly checkRoom: (shards: number) => void;
}> {
  const { clock, configuration, logger } = options;
  const { owner, dataPath, schema, openFiles, drops, onProgress, metrics, copies } = parts;
  setTimeout(holdLinks(), LINKS_WAIT_MS).unref();
  const { name: nodeName } = owner;
  await schema.refresh({ deadline: Number.POSITIVE_INFINITY });
  let shardCount = shardsPlacedOn(nodeName, schema.snapshot);
  scope.use(
    schema.onChange((snapshot) => {
      shardCount = shardsPlacedOn(nodeName, snapshot);
    }),
  );
  const openFilesNow = planFor(shardCount, openFiles);
  const caches = {
    rows: new RowCacheBudget(configuration.rowCacheBytes),
    indexes: new IndexMemory(configuration.indexCacheBytes),
  };
  const memory = openMemoryBudget(options, caches);
  copies?.memory.boundBy(memory);
  const openShardOn = shardOpener(options, parts, {
    ...{ rowCache: caches.rows, indexMemory: caches.indexes, memory },
    openFiles: openFilesNow,
    shardCount: () => shardCount,
  });
  let done = 0;
  let onOpened = (): void => onProgress(++done, shardCount);
  const folders = await ShardFolders.open(join(dataPath, "shards"));
  const node = scope.use(
    await StorageNode.start(
      schema,
      {
        nodeName,
        folders,
        openShard(address, record, folder) {
          const open = (isMade: boolean, copy?: CopyOptions) => openShardOn({ address, record, folder, isMade, copy });
          const opened = hasCopies(record, address)
            ? openCopy(copies, address, record, { folders, folder, open })
            : openMadeShard(folders, address, open);
          return opened.finally(() => onOpened());
        },
        copies,
        clock: () => clock.now(),
        onEvent: (event) => {
          if (event.type === "classDropped") memory.freed();
          logRegistryEvent(logger, event);
        },
      },
      { ...drops, nowMs: () => clock.now() },
    ),
  );
  onOpened = () => undefined;
  watchMemory(memory, node, caches, { logger, metrics }, scope);
  watchRest(logger, scope);
  if (metrics !== undefined) {
    describeStorageMetrics(metrics, node);
    if (copies !== undefined) describeCopyStates(metrics, node);
  }
  await keepNodeIdentity(dataPath, { ...owner, hasShardList: await hasList(dataPath) }).catch(() => undefined);
  return { node, openFiles: openFilesNow, checkRoom: (shards) => checkRoomForShards(memory, shards) };
}

/** What all shards of a node share. */
interface SharedByShards {
  readonly rowCache: RowCacheBudget;
  readonly indexMemory: IndexMemory;
  readonly memory: MemoryBudget;
  readonly openFiles: OpenFilesPlan;
  /** Shards that share memory and files of the stores, as of now; a store keeps the share it was opened with. */
  readonly shardCount: () => number;
}

/**
 * The result opens the RocksDB store of a shard and the shard on it. One that was made before (`isMade`) and is not there is
 * `dataLoss`: served empty it would be found empty by everybody.
 */
function shardOpener(
  { clock, configuration, logger, onStoreFailure }: ProcessOptions,
  { owner, ballast, onReading }: StorageNodeParts,
  { rowCache, indexMemory, memory, openFiles, shardCount }: SharedByShards,
) {
  const hashSeed = randomInt(2 ** 32);
  const idPresenceFilter = new IdPresenceFilter(hashSeed);
  const longReads = new LongReads();
  const rowReads = rowReadGate();
  const giveBack = returnFreeMemoryOnce();

  const openStore = async (
    shardFolder: string,
    where: object,
    isMade: boolean,
    isCopy: boolean,
  ): Promise<RocksStore> => {
    const folder = rowsFolder(shardFolder);
    const shards = Math.max(1, shardCount());
    const open = (isLossAccepted: boolean): Promise<RocksStore> =>
      openRocksStore({
        folder,
        createIfMissing: !isMade || isLossAccepted,
        acceptDamagedLogs: isLossAccepted,
        ballast,
        openFilesMax: filesOfStore(shards, openFiles),
        ...storeMemory(configuration.storeMemoryBytes, shards),
        ...(onReading && { onOpening: onReading }),
        onState: (state, reason) => {
          if (state === "failed") onStoreFailure(endAfterStoreFailure);
          logger[state === "closed" ? "debug" : "warn"]({ ...where, state, reason }, "store state changed");
        },
      });
    try {
      return await open(false);
    } catch (thrown) {
      const error = ShoalError.from(thrown);
      if (error.code !== "dataLoss") throw error;
      // A copy that has lost something must not pass for one that has it: it is made anew from the others.
      if (isCopy) throw new ShoalError("dataLoss", `${error.message}. ${WAY_OUT_OF_COPY}`, { cause: error });
      if (!configuration.acceptDataLoss) {
        throw new ShoalError("dataLoss", `${error.message}. ${WAYS_OUT}`, { cause: error });
      }
      logger.warn(
        { ...where, error },
        "the shard goes on without what it has lost, as CLUSTER_ACCEPT_DATA_LOSS=true says",
      );
      // Without the rows nothing of them is to be known: the shard begins empty.
      if (!(await isStoreFolder(folder))) await rm(viewsFolder(shardFolder), { recursive: true, force: true });
      return open(true);
    }
  };

  return async ({ address, record, folder, isMade, copy }: ShardToOpen): Promise<OpenedShard> => {
    const { className, shardName, epoch = 1 } = address;
    const where = { class: className, shard: shardName };
    // Where nothing is begun anew, the snapshots are read while the store is opened.
    const readsEarly = isMade && !configuration.acceptDataLoss && (await isStoreFolder(rowsFolder(folder)));
    const opening = openStore(folder, where, isMade, copy !== undefined);
    if (readsEarly) opening.catch(() => undefined);
    else await opening;
    try {
      const shard = await openShard({
        ...{
          store: readsEarly ? opening : await opening,
          className,
          shardName,
          epoch,
          hashSeed,
          idPresenceFilter,
          memory,
          rowCache,
          rowReads,
        },
        folder: viewsFolder(folder),
        ...shardSettings(record, owner.name),
        dimensions: record.dimensions,
        ...(copy !== undefined && { copy }),
        vectorIndexes: { create: createVectorIndex, load: loadVectorIndex },
        createIndex: (site) => createInvertedIndex({ ...site, memory: indexMemory, longReads }),
        clock: () => clock.now(),
        limits: { objectBytesMax: configuration.objectBytesMax },
        onEvent: (event) => {
          logShardEvent(logger, where, event);
          // Much of what was needed for the changes that are in it is free now.
          if (event.type === "snapshotWritten") giveBack();
        },
      });
      return { shard, store: await opening };
    } catch (thrown) {
      await opening.then(
        (store) => store[Symbol.asyncDispose](),
        () => undefined,
      );
      throw thrown;
    }
  };
}

interface ShardToOpen {
  readonly address: ShardAddress;
  readonly record: ClassRecord;
  readonly folder: string;
  readonly isMade: boolean;
  readonly copy: CopyOptions | undefined;
}

function hasCopies({ sharding }: ClassRecord, { shardName }: ShardAddress): boolean {
  return initialConfigurations(sharding).has(shardName);
}

/** Opens this node's copy of a shard that has others elsewhere. */
async function openCopy(
  copies: NodeCopies | undefined,
  address: ShardAddress,
  record: ClassRecord,
  {
    folders,
    folder,
    open,
  }: {
    readonly folders: ShardFolders;
    readonly folder: string;
    readonly open: (isMade: boolean, copy: CopyOptions) => Promise<OpenedShard>;
  },
): Promise<OpenedShard> {
  const { classId, className, shardName } = address;
  if (copies === undefined) {
    const message = `shard ${shardName} of class '${className}' has copies, which a server in one process does not serve`;
    throw new ShoalError("invalid", message);
  }
  return copies.open(address, record, {
    isMade: folders.isMade(classId, shardName),
    hasStore: () => isStoreFolder(rowsFolder(folder)),
    async clear() {
      await folders.removeShard(classId, shardName);
      await makeDurableFolder(folder);
    },
    keepMade: () => folders.keepMade(classId, shardName),
    damage: () => folders.damage(classId, shardName),
    keepDamage: (reason) => folders.keepDamage(classId, shardName, reason),
    open,
  });
}

function viewsFolder(shardFolder: string): string {
  return join(shardFolder, "views");
}

const WAYS_OUT =
  "Mount the right volume, or put it back from a backup of this node: it is opened then without a restart. 'shoal repair' " +
  "rebuilds damaged files from what they still hold, while the node is stopped. A start with CLUSTER_ACCEPT_DATA_LOSS=true " +
  "goes on without folders and logs that are lost";

function logShardEvent(logger: Logger, where: object, { type, ...event }: ShardEvent): void {
  const fields = { ...where, ...event };
  if (type !== "recallMeasured") {
    const [level, message] = SHARD_EVENTS[type];
    logger[level](fields, message);
  } else if ("recall" in event && event.recall.recall < event.recall.target) {
    logger.warn(fields, "searches find less than their target");
  } else {
    logger.debug(fields, "recall measured");
  }
}

/** A line of the log. */
type News = readonly [level: "error" | "warn" | "info" | "debug", message: string];

const SHARD_EVENTS: Readonly<Record<Exclude<ShardEvent["type"], "recallMeasured">, News>> = {
  damageFound: ["error", "damage found"],
  writesFailed: ["error", "writes failed"],
  snapshotFailed: ["error", "snapshot failed"],
  indexFailed: ["error", "inverted index could not be built"],
  snapshotWritten: ["debug", "snapshot written"],
  recovered: ["info", "shard open"],
  writesResumed: ["info", "writes resumed"],
  indexBuilt: ["info", "inverted index built from the rows"],
  copiedGraphUnfit: [
    "warn",
    "the vector index of another copy has other objects than its rows: the vectors are reinserted into the graph",
  ],
  vectorsReloaded: ["info", "vector index built from the rows, to give back the memory of removed vectors"],
};

function logRegistryEvent(logger: Logger, { type, ...fields }: ShardRegistryEvent): void {
  const [level, message] = REGISTRY_EVENTS[type];
  logger[level](fields, message);
}

const REGISTRY_EVENTS: Readonly<Record<ShardRegistryEvent["type"], News>> = {
  classDropped: ["info", "class dropped from disk"],
  shardFailed: ["error", "shard could not be opened"],
  dropFailed: ["error", "class could not be dropped from disk"],
  unknownClassOnDisk: [
    "error",
    "a folder on disk belongs to no class of the schema and is kept: a class whose creation was cut short, or a schema " +
      "that was lost or put back; remove the folder while the server is stopped if its data is not wanted",
  ],
};
