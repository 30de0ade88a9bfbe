import { randomInt } from "node:crypto";
import { join } from "node:path";
import { IndexMemory, LongReads } from "@shoal/inverted-index";
import { type DiskBallast, endAfterStoreFailure } from "@shoal/kv";
import type { Logger, Metrics, ResourceScope } from "@shoal/service-runtime";
import { checkRoomForShards, IdPresenceFilter, RowCacheBudget, rowReadGate } from "@shoal/shard";
import {
  type DropConfirmationOptions,
  type FollowedSchema,
  openMadeShard,
  ShardFolders,
  type ShardRegistryEvent,
  StorageNode,
} from "@shoal/storage-node";
import { returnFreeMemoryOnce } from "./give-memory-back.js";
import { describeStorageMetrics } from "./internal-port.js";
import { filesOfStore, type OpenFilesPlan, planFor } from "./open-files.js";
import { openMemoryBudget, watchMemory } from "./open-memory-budget.js";
import { openStoredShard, type StoredShardSettings } from "./open-stored-shard.js";
import type { ProcessOptions } from "./process-options.js";
import { shardsPlacedOn } from "./shards-placed-on.js";
import { watchRest } from "./watch-rest.js";

export interface StorageNodeParts {
  readonly nodeName: string;
  readonly dataPath: string;
  readonly ballast: DiskBallast;
  /** Followed; the shards that it has at the start must fit into the open files. */
  readonly schema: FollowedSchema;
  readonly openFiles: OpenFilesPlan;
  /** Who hears of classes that nothing more is written into, and when that holds over a restart. */
  readonly drops: Pick<DropConfirmationOptions, "nodes" | "kept">;
  /** Told at the start how many shards are open, or have failed, of how many. */
  readonly onProgress: (done: number, all: number) => void;
  /** Told of each shard when its snapshots are read, which leaves the event loop idle. */
  readonly onReading?: () => void;
  readonly metrics: Metrics | undefined;
}

/**
 * The storage node on its folder, all its shards open or known to have failed; what is left for connections; and what fails when
 * there is no memory for so many shards more.
 */
export async function openStorageNode(
  options: ProcessOptions,
  { nodeName, dataPath, ballast, schema, openFiles, drops, onProgress, onReading, metrics }: StorageNodeParts,
  scope: ResourceScope,
): Promise<{
  readonly node: StorageNode;
  readonly openFiles: OpenFilesPlan;
  readonly checkRoom: (shards: number) => void;
}> {
  const { clock, configuration, logger } = options;
  await schema.refresh({ deadline: Number.POSITIVE_INFINITY });
  let shardCount = shardsPlacedOn(nodeName, schema.snapshot);
  scope.use(
    schema.onChange((snapshot) => {
      shardCount = shardsPlacedOn(nodeName, snapshot);
    }),
  );
  const openFilesNow = planFor(shardCount, openFiles);
  const hashSeed = randomInt(2 ** 32);
  const caches = {
    rows: new RowCacheBudget(configuration.rowCacheBytes),
    indexes: new IndexMemory(configuration.indexCacheBytes),
  };
  const memory = openMemoryBudget(options, caches);
  const shardSettings: StoredShardSettings = {
    acceptDataLoss: configuration.acceptDataLoss,
    ballast,
    clock: () => clock.now(),
    hashSeed,
    idPresenceFilter: new IdPresenceFilter(hashSeed),
    indexMemory: caches.indexes,
    logger,
    memory,
    longReads: new LongReads(),
    nodeName,
    objectBytesMax: configuration.objectBytesMax,
    storeMemoryBytes: configuration.storeMemoryBytes,
    storeFilesMax: (shards) => filesOfStore(shards, openFilesNow),
    rowCache: caches.rows,
    rowReads: rowReadGate(),
    shardCount: () => shardCount,
    onReading: onReading ?? (() => undefined),
    onStoreState: (state) => {
      if (state === "failed") options.onStoreFailure(endAfterStoreFailure);
    },
    onSnapshot: returnFreeMemoryOnce(),
  };
  let done = 0;
  let onOpened = (): void => onProgress(++done, shardCount);
  const folders = await ShardFolders.open(join(dataPath, "shards"));
  const node = scope.use(
    await StorageNode.start(
      schema,
      {
        nodeName,
        folders,
        openShard: (address, record, folder) =>
          openMadeShard(folders, address, (isMade) =>
            openStoredShard(shardSettings, address, record, folder, isMade),
          ).finally(() => onOpened()),
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
  if (metrics !== undefined) describeStorageMetrics(metrics, node);
  return { node, openFiles: openFilesNow, checkRoom: (shards) => checkRoomForShards(memory, shards) };
}

function logRegistryEvent(logger: Logger, event: ShardRegistryEvent): void {
  const { type, ...fields } = event;
  if (type === "classDropped") logger.info(fields, "class dropped from disk");
  else if (type === "shardFailed") logger.error(fields, "shard could not be opened");
  else if (type === "dropFailed") logger.error(fields, "class could not be dropped from disk");
  else {
    logger.error(
      fields,
      "a folder on disk belongs to no class of the schema and is kept: a class whose creation was cut short, or a schema " +
        "that was lost or put back; remove the folder while the server is stopped if its data is not wanted",
    );
  }
}
