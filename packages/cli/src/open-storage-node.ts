import { randomInt } from "node:crypto";
import { join } from "node:path";
import { IndexMemory, LongReads } from "@shoal/inverted-index";
import { type DiskBallast, endAfterStoreFailure } from "@shoal/kv";
import { returnFreeMemory } from "@shoal/native";
import type { Logger, ResourceScope } from "@shoal/service-runtime";
import { IdCensus, RowCacheBudget, RowReadGate } from "@shoal/shard";
import {
  type DropConfirmationOptions,
  type FollowedSchema,
  openMadeShard,
  ShardFolders,
  type ShardRegistryEvent,
  StorageNode,
} from "@shoal/storage-node";
import { oncePerPause } from "./once-per-pause.js";
import { filesOfStore, type OpenFilesPlan, planFor } from "./open-files.js";
import { openStoredShard, type StoredShardSettings } from "./open-stored-shard.js";
import type { ProcessOptions } from "./process-options.js";
import { shardsPlacedOn } from "./shards-placed-on.js";

/** From a snapshot until memory is given back; snapshots that follow each other share that. */
const MEMORY_PAUSE_MS = 1_000;

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
}

/** The storage node on its folder, all its shards open or known to have failed; and what is left for connections. */
export async function openStorageNode(
  options: ProcessOptions,
  { nodeName, dataPath, ballast, schema, openFiles, drops, onProgress }: StorageNodeParts,
  scope: ResourceScope,
): Promise<{ readonly node: StorageNode; readonly openFiles: OpenFilesPlan }> {
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
  const shardSettings: StoredShardSettings = {
    acceptDataLoss: configuration.acceptDataLoss,
    ballast,
    clock: () => clock.now(),
    hashSeed,
    idCensus: new IdCensus(hashSeed),
    indexMemory: new IndexMemory(configuration.indexCacheBytes),
    likePatternCharsMax: configuration.likePatternCharsMax,
    logger,
    longReads: new LongReads(configuration),
    nodeName,
    objectBytesMax: configuration.objectBytesMax,
    storeMemoryBytes: configuration.storeMemoryBytes,
    storeFilesMax: (shards) => filesOfStore(shards, openFilesNow),
    rowCache: new RowCacheBudget(configuration.rowCacheBytes),
    rowReads: new RowReadGate(),
    shardCount: () => shardCount,
    onStoreState: (state) => {
      if (state === "failed") options.onStoreFailure(endAfterStoreFailure);
    },
    onSnapshot: oncePerPause(returnFreeMemory, MEMORY_PAUSE_MS),
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
        onEvent: (event) => logRegistryEvent(logger, event),
      },
      { ...drops, nowMs: () => clock.now() },
    ),
  );
  onOpened = () => undefined;
  return { node, openFiles: openFilesNow };
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
