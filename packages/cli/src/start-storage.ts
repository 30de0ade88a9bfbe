import { randomBytes, randomInt, randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { join } from "node:path";
import { EmbeddedMetaStore, SchemaCoordinator } from "@shoal/coordinator";
import { IndexMemory, LongReads } from "@shoal/inverted-index";
import { DiskBallast, openRocksStore, type StoreState } from "@shoal/kv";
import { returnFreeMemory } from "@shoal/native";
import type { Logger, ResourceScope } from "@shoal/service-runtime";
import { IdCensus, RowCacheBudget, RowReadGate } from "@shoal/shard";
import { createShardingState } from "@shoal/sharding";
import { nodeIdentity, ShardFolders, type ShardRegistryEvent, StorageNode } from "@shoal/storage-node";
import { newClassId } from "./new-class-id.js";
import { oncePerPause } from "./once-per-pause.js";
import { filesOfStore, type OpenFilesPlan, planFor, shardLimit } from "./open-files.js";
import { openStoredShard, type StoredShardSettings } from "./open-stored-shard.js";
import { schemaLimits } from "./schema-limits.js";
import type { ServeOptions } from "./serve-options.js";

/** Held back on the disk, so that the server can start while it is full. */
const BALLAST_BYTES = 16 * 1024 * 1024;

/** The schema is small. */
const SCHEMA_STORE = { cacheBytes: 1024 * 1024, writeBufferBytes: 1024 * 1024 } as const;

/** From a snapshot until memory is given back; snapshots that follow each other share that. */
const MEMORY_PAUSE_MS = 1_000;

/** What owns data and schema in this process. */
export interface StorageParts {
  readonly coordinator: SchemaCoordinator;
  readonly node: StorageNode;
  /** What is left for connections beside the files of the shards. */
  readonly openFiles: OpenFilesPlan;
}

/** Coordinator and storage node. The schema's store is opened first: its lock keeps a second server off the folder. */
export async function startStorage(
  options: ServeOptions,
  dataPath: string,
  openFiles: OpenFilesPlan,
  scope: ResourceScope,
): Promise<StorageParts> {
  const { clock, configuration, configuredNodeName, logger } = options;
  const onStoreState = (state: StoreState) => {
    if (state === "failed") options.onStoreFailure();
  };
  const ballast = new DiskBallast(join(dataPath, "BALLAST"), BALLAST_BYTES);
  const folder = join(dataPath, "schema");
  const schemaStore = scope.use(await openRocksStore({ folder, ballast, ...SCHEMA_STORE, onState: onStoreState }));
  const meta = await EmbeddedMetaStore.open(schemaStore, randomUUID);
  const nodeName = await nodeIdentity(dataPath, configuredNodeName, hostname());
  const coordinator = await SchemaCoordinator.open({
    store: meta,
    createSharding: ({ shardingConfig: { desiredCount, virtualPerPhysical } }) =>
      createShardingState({ desiredCount, virtualPerPhysical, nodeNames: [nodeName] }, randomBytes),
    newClassId: () => newClassId(randomInt),
    limits: schemaLimits(configuration),
    shardLimit: shardLimit(openFiles, configuration.schemaShardsMax),
  });
  let shardCount = 0;
  scope.use(
    coordinator.watch(({ classes }) => {
      shardCount = classes.reduce((sum, { sharding }) => sum + sharding.shards.length, 0);
    }),
  );
  const openFilesNow = planFor(shardCount, openFiles);
  const hashSeed = randomInt(2 ** 32);
  const shardSettings: StoredShardSettings = {
    ballast,
    clock: () => clock.now(),
    hashSeed,
    idCensus: new IdCensus(hashSeed),
    indexMemory: new IndexMemory(configuration.indexCacheBytes),
    likePatternCharsMax: configuration.likePatternCharsMax,
    logger,
    longReads: new LongReads(configuration),
    objectBytesMax: configuration.objectBytesMax,
    storeMemoryBytes: configuration.storeMemoryBytes,
    storeFilesMax: (shards) => filesOfStore(shards, openFilesNow),
    rowCache: new RowCacheBudget(configuration.rowCacheBytes),
    rowReads: new RowReadGate(),
    shardCount: () => shardCount,
    onStoreState,
    onSnapshot: oncePerPause(returnFreeMemory, MEMORY_PAUSE_MS),
  };
  const node = scope.use(
    await StorageNode.start(coordinator, {
      nodeName,
      historyId: meta.historyId,
      folders: await ShardFolders.open(join(dataPath, "shards")),
      openShard: (address, record, folder) => openStoredShard(shardSettings, address, record, folder),
      clock: () => clock.now(),
      onEvent: (event) => logRegistryEvent(logger, event),
    }),
  );
  return { coordinator, node, openFiles: openFilesNow };
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
