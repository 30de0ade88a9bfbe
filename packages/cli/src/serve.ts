import { randomBytes, randomInt, randomUUID } from "node:crypto";
import type { RequestListener } from "node:http";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { SchemaReplica, ShardMap } from "@shoal/cluster";
import { EmbeddedMetaStore, SchemaCoordinator } from "@shoal/coordinator";
import { type AccessControl, createAccessControl, createGateway, type Gateway } from "@shoal/gateway";
import { type AutoSchemaSettings, INGEST_LIMITS, ObjectIngest } from "@shoal/ingest";
import { DiskBallast, openRocksStore, type StoreState } from "@shoal/kv";
import { type ClassSettings, NO_MODULES, type SchemaLimits, wireProfile } from "@shoal/model";
import { QueryEngine } from "@shoal/query";
import type { Clock, Configuration, Logger, Metrics, ResourceScope, Service } from "@shoal/service-runtime";
import { IdCensus, RowCacheBudget } from "@shoal/shard";
import { createShardingState } from "@shoal/sharding";
import { nodeIdentity, ShardFolders, type ShardRegistryEvent, StorageNode } from "@shoal/storage-node";
import { describeStorageMetrics, openInternalPort } from "./internal-port.js";
import { loadPages } from "./load-pages.js";
import { makeDataFolder } from "./make-data-folder.js";
import { newClassId } from "./new-class-id.js";
import { openStoredShard, type StoredShardSettings } from "./open-stored-shard.js";

/** Held back on the disk, so that the server can start while it is full. */
const BALLAST_BYTES = 16 * 1024 * 1024;

/** The schema is small. */
const SCHEMA_STORE = { cacheBytes: 1024 * 1024, writeBufferBytes: 1024 * 1024 } as const;

export interface ServeOptions {
  readonly configuration: Configuration;
  /** `CLUSTER_HOSTNAME` when it was set. */
  readonly configuredNodeName: string | undefined;
  readonly shoalVersion: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told when a store can no longer be closed in the ordinary way: the process must end by `endAfterStoreFailure`. */
  readonly onStoreFailure: () => void;
  /** Told the address once requests are answered. */
  readonly onListening: (url: string) => void;
}

/** All services in one process: coordinator, storage node and gateway, joined by plain calls. */
export async function serve(options: ServeOptions, scope: ResourceScope): Promise<Service> {
  const { configuration, logger } = options;
  const dataPath = resolve(configuration.dataPath);
  await makeDataFolder(dataPath);
  let isReady = (): boolean => false;
  const metrics = await openInternalPort({ ...options, isReady: () => isReady() }, scope);
  const ballast = new DiskBallast(join(dataPath, "BALLAST"), BALLAST_BYTES);
  const storage = await startStorage(options, dataPath, ballast, scope);
  const access = scope.use(createAccessControl(configuration, { ...options, metrics }));
  const pages = await loadPages(access, configuration.origin, logger);
  if (metrics !== undefined) describeStorageMetrics(metrics, storage.node);
  const gateway = scope.use(createServingGateway(options, storage, access, pages, metrics));
  const { url } = await gateway.listen();
  gateway.markReady();
  isReady = () => gateway.isReady;
  logger.info({ url, dataPath, node: storage.node.name }, "serving");
  options.onListening(url);
  return { drain: () => gateway.drain() };
}

interface StorageParts {
  readonly coordinator: SchemaCoordinator;
  readonly node: StorageNode;
}

/** Coordinator and storage node. The schema's store is opened first: its lock keeps a second server off the folder. */
async function startStorage(
  options: ServeOptions,
  dataPath: string,
  ballast: DiskBallast,
  scope: ResourceScope,
): Promise<StorageParts> {
  const { clock, configuration, configuredNodeName, logger } = options;
  const onStoreState = (state: StoreState) => {
    if (state === "failed") options.onStoreFailure();
  };
  const schemaFolder = join(dataPath, "schema");
  const schemaStore = await openRocksStore({
    folder: schemaFolder,
    ballast,
    ...SCHEMA_STORE,
    onState: onStoreState,
  });
  scope.use(schemaStore);
  const meta = await EmbeddedMetaStore.open(schemaStore, randomUUID);
  const nodeName = await nodeIdentity(dataPath, configuredNodeName, hostname());
  const coordinator = await SchemaCoordinator.open({
    store: meta,
    createSharding: ({ shardingConfig: { desiredCount, virtualPerPhysical } }) =>
      createShardingState({ desiredCount, virtualPerPhysical, nodeNames: [nodeName] }, randomBytes),
    newClassId: () => newClassId(randomInt),
    limits: schemaLimits(configuration),
  });
  let shardCount = 0;
  const counting = coordinator.watch(({ classes }) => {
    shardCount = classes.reduce((sum, { sharding }) => sum + sharding.shards.length, 0);
  });
  scope.use(counting);
  const hashSeed = randomInt(2 ** 32);
  const shardSettings: StoredShardSettings = {
    ballast,
    clock: () => clock.now(),
    hashSeed,
    idCensus: new IdCensus(hashSeed),
    logger,
    storeMemoryBytes: configuration.storeMemoryBytes,
    rowCache: new RowCacheBudget(configuration.rowCacheBytes),
    shardCount: () => shardCount,
    onStoreState,
  };
  const node = await StorageNode.start(coordinator, {
    nodeName,
    historyId: meta.historyId,
    folders: await ShardFolders.open(join(dataPath, "shards")),
    openShard: (address, record, folder) => openStoredShard(shardSettings, address, record, folder),
    clock: () => clock.now(),
    onEvent: (event) => logRegistryEvent(logger, event),
  });
  scope.use(node);
  return { coordinator, node };
}

function createServingGateway(
  options: ServeOptions,
  { coordinator, node }: StorageParts,
  access: AccessControl,
  pages: RequestListener,
  metrics: Metrics | undefined,
): Gateway {
  const { configuration, clock, logger, shoalVersion } = options;
  const profile = wireProfile(configuration.wireProfile);
  const view = new SchemaReplica(coordinator);
  const router = new ShardMap({ node: (name) => (name === node.name ? node : undefined) });
  const classSettings = () => ({
    profile,
    defaultVectorizer: configuration.defaultVectorizerModule,
    nodeCount: 1,
    modules: NO_MODULES,
  });
  const limits = {
    defaultLimit: configuration.queryDefaultsLimit,
    maximumResults: configuration.queryMaximumResults,
  };
  return createGateway(
    {
      ingest: new ObjectIngest({
        schema: view,
        router,
        schemaService: coordinator,
        profile,
        newId: randomUUID,
        nowMs: () => clock.now(),
        limits: INGEST_LIMITS,
        autoSchema: autoSchemaSettings(configuration, coordinator, classSettings),
      }),
      query: new QueryEngine({ schema: view, router, limits }),
      schema: coordinator,
      view,
      profile,
      classSettings,
      logger,
      clock,
      access,
      fallback: pages,
      ...(metrics === undefined ? {} : { metrics }),
    },
    { ...configuration, shoalVersion },
  );
}

function autoSchemaSettings(
  configuration: Configuration,
  schemaService: SchemaCoordinator,
  classSettings: () => ClassSettings,
): AutoSchemaSettings | undefined {
  const { autoSchemaEnabled, autoSchemaDefaultString, autoSchemaDefaultNumber, autoSchemaDefaultDate } = configuration;
  if (!autoSchemaEnabled) return undefined;
  const types = { string: autoSchemaDefaultString, number: autoSchemaDefaultNumber, date: autoSchemaDefaultDate };
  return { types, schemaService, classSettings, schemaLimits: schemaLimits(configuration) };
}

function schemaLimits({ schemaClassesMax, schemaClassPropertiesMax }: Configuration): SchemaLimits {
  return { classesMax: schemaClassesMax, propertiesPerClassMax: schemaClassPropertiesMax };
}

function logRegistryEvent(logger: Logger, event: ShardRegistryEvent): void {
  const { type, ...fields } = event;
  if (type === "classDropped") logger.info(fields, "class dropped from disk");
  else if (type === "shardFailed") logger.error(fields, "shard could not be opened");
  else if (type === "dropFailed") logger.error(fields, "class could not be dropped from disk");
  else logger.error(fields, "a class on disk is not in the schema; its data is kept");
}
