import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { SchemaReplica } from "@shoal/cluster";
import type { NodeRegistry } from "@shoal/coordinator";
import { type AuditLog, createAccessControl } from "@shoal/gateway";
import { isStoreFolder } from "@shoal/kv";
import { ShoalError } from "@shoal/model";
import type { EnabledModules } from "@shoal/module-api";
import type { AccessSnapshot, SchemaSnapshot } from "@shoal/rpc";
import type { ResourceScope, Service } from "@shoal/service-runtime";
import { findNodeIdentity } from "@shoal/storage-node";
import { openAuditLog } from "./audit/open-audit-log.js";
import { followApiKeys } from "./follow-api-keys.js";
import { FollowedExtensions } from "./followed-extensions.js";
import { openInternalPort } from "./internal-port.js";
import { entriesMemory, jsonFileMemory, KNOWN_ACCESS, KNOWN_SCHEMA } from "./json-file-memory.js";
import { ballastOf, makeDataFolder } from "./make-data-folder.js";
import { moduleStorageRoutes } from "./module-storage-route.js";
import { openAccessBook, usesAccess, warnOfOpenAccess } from "./open-access-book.js";
import { openCoordinator, openEmbeddedMetaStore } from "./open-coordinator.js";
import { openFilesLimit, planOpenFiles, shardLimit, shortage } from "./open-files.js";
import { checkModules, describeModules, modulesReady, openModules } from "./open-modules.js";
import { nameFolder, openStorageNode } from "./open-storage-node.js";
import type { ProcessOptions } from "./process-options.js";
import { loadPages } from "./read-page-files.js";
import { hasShards, refuseLostData, refuseLostList } from "./refuse-lost-data.js";
import { remember, rememberSchema } from "./remember.js";
import { contextionaryTls, followServerCertificate } from "./tls-files.js";

/** All services in one process: coordinator, storage node and gateway, joined by plain calls. */
export async function serve(options: ProcessOptions, scope: ResourceScope, stopping: AbortSignal): Promise<Service> {
  const { configuration, configuredNodeName, logger } = options;
  checkModules(options);
  const moduleTls = await contextionaryTls(configuration, logger, scope);
  const dataPath = resolve(configuration.dataPath);
  await makeDataFolder(dataPath, logger);
  const wanted = { shardsMax: configuration.schemaShardsMax, connectionsMax: configuration.connectionsMax };
  const openFiles = planOpenFiles(openFilesLimit(), wanted);
  let notReady = (): string => "it is starting";
  let modules: EnabledModules | undefined;
  let auditLog: AuditLog | undefined;
  const routes = moduleStorageRoutes(
    configuration,
    () => modules,
    options.clock,
    () => auditLog,
  );
  const metrics = await openInternalPort({ ...options, notReady: () => notReady(), routes }, scope);
  const audit = await openAuditLog(options, metrics, scope);
  const apiKeySources = await followApiKeys(configuration.authentication.apiKeys, logger, scope);
  const certificate = await followServerCertificate(configuration, logger, scope);

  const ballast = ballastOf(dataPath);
  const identity = await findNodeIdentity(dataPath, configuredNodeName, hostname());
  const { name: nodeName, clusterId, isNew } = identity;
  if (clusterId !== undefined && !(await isStoreFolder(join(dataPath, "schema"))))
    throw lostSchema(dataPath, clusterId);
  // Opened before all others: its lock keeps a second server off the folder.
  const store = await openEmbeddedMetaStore(options, dataPath, ballast, scope);
  if (!configuration.acceptDataLoss) await refuseLostList(dataPath, identity);
  const limit = shardLimit(openFiles, configuration.schemaShardsMax);
  // No class is made before the shards that there are have their memory.
  let checkRoom = (_shards: number): void => undefined;
  const {
    schema,
    nodes,
    jobs,
    extensions,
    access: roles,
  } = await openCoordinator(
    options,
    { store, expectedStorageNodes: 1, shardLimit: limit, checkRoom: (shards) => checkRoom(shards) },
    scope,
  );
  const book = openAccessBook(options, roles, apiKeySources, scope);
  const access = scope.use(createAccessControl(configuration, { ...options, metrics, apiKeySources, book }));
  // Read before the shards take their files.
  const pages = await loadPages(logger);
  if (clusterId !== undefined && clusterId !== schema.clusterId) {
    throw lostSchema(dataPath, clusterId, schema.clusterId);
  }
  if (isNew && !configuration.acceptDataLoss && !(await hasShards(dataPath))) {
    const known = await schema.current({ deadline: Number.POSITIVE_INFINITY });
    refuseLostData(nodeName, dataPath, known);
  }
  const owner = await nameFolder(dataPath, identity, schema.clusterId, logger);
  await registerHere(nodes, nodeName, owner.secret, options);
  const view = scope.use(new SchemaReplica(schema));
  const memory = jsonFileMemory<SchemaSnapshot>(dataPath, KNOWN_SCHEMA);
  rememberSchema(memory, view, logger, scope);
  if (usesAccess(options)) {
    // Beside the schema, for the same reason: whose store is lost can bring both back.
    const accessKept = entriesMemory<AccessSnapshot>(jsonFileMemory(dataPath, KNOWN_ACCESS));
    remember(accessKept, "what roles and users there are", logger, scope, (keep) => roles.watch(keep));
  }
  const onProgress = (done: number, all: number): void => {
    notReady = () => `${done} of ${all} shards are open`;
  };
  // What answers requests is loaded while other threads read the shards.
  const loadGateway = () => import("./assemble-gateway.js");
  const storage = await openStorageNode(
    options,
    {
      ...{ owner, dataPath, ballast, schema: view, openFiles, drops: { nodes }, onProgress, metrics },
      // Whoever awaits it below gets the error.
      onReading: () => void loadGateway().catch(() => undefined),
    },
    scope,
  );
  checkRoom = storage.checkRoom;

  const { shoalVersion, gitHash } = options;
  const record = { name: nodeName, address: undefined, shoalVersion, gitHash };
  modules = await openModules(options, scope.use(new FollowedExtensions(extensions)), moduleTls, scope);
  const pool = {
    node: (name: string) => (name === nodeName ? storage.node : undefined),
    isLost: () => false,
    nodes: [{ record, service: storage.node }],
  };
  const { assembleGateway } = await loadGateway();
  const gateway = scope.use(
    assembleGateway(
      options,
      {
        ...{ schema, jobs, worker: nodeName, view, pool, nodeCount: () => 1, modules },
        connectionsMax: storage.openFiles.connectionsMax,
        ...{ access, audit, book, pages, metrics, certificate },
      },
      scope,
    ),
  );
  auditLog = gateway.audit;
  const { url } = await gateway.listen();
  notReady = () => "it waits for the back ends of modules";
  const drain = () => gateway.drain();
  if (!(await modulesReady(modules, stopping))) return { drain };
  gateway.markReady();
  notReady = () => (gateway.isReady ? "" : "it is draining");
  warnOfOpenAccess(configuration, access, logger);
  logger.info({ url, dataPath, node: nodeName, ...describeModules(options) }, "serving");
  const short = shortage(storage.openFiles, wanted);
  if (short !== undefined) logger.info({}, short);
  options.onListening(url);
  return { drain };
}

/** The data of a folder belongs to one schema store. `found`: the cluster of the store in its place; undefined when there is none. */
function lostSchema(dataPath: string, clusterId: string, found?: string): ShoalError {
  const folder = join(dataPath, "schema");
  const what =
    found === undefined ? `there is no schema in '${folder}'` : `the schema in '${folder}' is of cluster '${found}'`;
  return new ShoalError(
    "dataLoss",
    `${what}, the data in '${dataPath}' is of cluster '${clusterId}': put that folder back, in the place of what is there, or ` +
      `bring its content back with 'shoal cluster restore-schema --data-path ${dataPath} --from ${dataPath}'`,
  );
}

/** Enters the node of this process. On a full disk what is stored is served all the same. */
async function registerHere(
  nodes: NodeRegistry,
  name: string,
  secret: string,
  { shoalVersion, gitHash, logger }: ProcessOptions,
): Promise<void> {
  try {
    const record = { name, address: undefined, shoalVersion, gitHash };
    // The lock of the schema's store has shown that no other process is there.
    const claim = { secret, process: "", replaces: true };
    await nodes.register(record, { deadline: Number.POSITIVE_INFINITY }, claim);
  } catch (error) {
    logger.warn({ error }, "the node could not be entered in the schema's store; start again when there is space");
  }
}
