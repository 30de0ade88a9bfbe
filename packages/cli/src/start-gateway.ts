import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import { CopiesReplica, HeldRequests, RemoteNodePool, SchemaReplica } from "@shoal/cluster";
import { type AuditLog, createAccessControl } from "@shoal/gateway";
import type { EnabledModules } from "@shoal/module-api";
import {
  type AccessService,
  type AccessSnapshot,
  type ExtensionService,
  type ExtensionsSnapshot,
  type NodeConnection,
  type NodeDirectory,
  type SchemaSnapshot,
  storageNodeCount,
} from "@shoal/rpc";
import { connectNode } from "@shoal/rpc/grpc";
import type { Logger, ResourceScope, Service } from "@shoal/service-runtime";
import { assembleGateway } from "./assemble-gateway.js";
import { openAuditLog } from "./audit/open-audit-log.js";
import { followApiKeys } from "./follow-api-keys.js";
import { clusterMembership, describeMembership, followCoordinators } from "./follow-coordinators.js";
import { FollowedAccess } from "./followed-access.js";
import { FollowedExtensions } from "./followed-extensions.js";
import { watchRest } from "./give-memory-back.js";
import { describeDirectory, describeSchemaVersion, gauge, labelledGauge, openInternalPort } from "./internal-port.js";
import { entriesMemory, jsonFileMemory, KNOWN_ACCESS, KNOWN_SCHEMA } from "./json-file-memory.js";
import { rememberCopies } from "./known-copies.js";
import { moduleStorageRoutes } from "./module-storage-route.js";
import { openAccessBook, usesAccess, warnOfOpenAccess } from "./open-access-book.js";
import { openFilesLimit, planOpenFiles } from "./open-files.js";
import { checkModules, describeModules, modulesReady, openModules } from "./open-modules.js";
import type { ProcessOptions } from "./process-options.js";
import { loadPages } from "./read-page-files.js";
import { recall, recallSchema, remember, rememberSchema } from "./remember.js";
import { contextionaryTls, followInternalTls, followServerCertificate } from "./tls-files.js";
import { warnOfReaders } from "./warn-of-readers.js";

/** So long after its start a gateway waits for a coordinator before it serves by what it remembers, which may be of long ago. */
const COORDINATOR_WAIT_MS = 3_000;

/** HTTP in front of the storage nodes that the coordinators know. Its data folder only remembers, and may be missing. */
export async function startGateway(
  options: ProcessOptions,
  scope: ResourceScope,
  stopping: AbortSignal,
): Promise<Service> {
  const { clock, configuration, logger } = options;
  watchRest(logger, scope);
  checkModules(options);
  const moduleTls = await contextionaryTls(configuration, logger, scope);
  const now = () => clock.now();
  const dataPath = resolve(configuration.dataPath);
  await makeMemoryFolder(dataPath, logger).catch(() => undefined);
  const { connectionsMax } = planOpenFiles(openFilesLimit(), {
    shardsMax: 0,
    connectionsMax: configuration.connectionsMax,
  });
  let notReady = (): string => "it is starting";
  let modules: EnabledModules | undefined;
  let auditLog: AuditLog | undefined;
  const routes = moduleStorageRoutes(
    configuration,
    () => modules,
    clock,
    () => auditLog,
  );
  const metrics = await openInternalPort({ ...options, notReady: () => notReady(), routes }, scope);
  const audit = await openAuditLog(options, metrics, scope);
  const apiKeySources = await followApiKeys(configuration.authentication.apiKeys, logger, scope);
  const tls = await followInternalTls(configuration, "gateway", logger, scope);
  const certificate = await followServerCertificate(configuration, logger, scope);

  const schemaMemory = jsonFileMemory<SchemaSnapshot>(dataPath, KNOWN_SCHEMA);
  const nodesMemory = jsonFileMemory<NodeDirectory>(dataPath, "nodes.json");
  // Known before the first call: a coordinator of another cluster is not to be believed.
  const remembered = await recallSchema(schemaMemory, logger);
  let clusterId = (): string | undefined => remembered?.clusterId;
  const lostNodes = (): readonly string[] => pool.lostNodes;
  let roles: FollowedAccess | undefined;
  const coordinator = scope.use(
    followCoordinators(
      configuration.coordinatorAddresses,
      {
        now,
        tls,
        logger,
        clusterId: () => clusterId(),
        lostNodes,
      },
      scope,
    ),
  );
  if (usesAccess(options)) roles = await followAccess(() => coordinator.access, dataPath, options, scope);
  const book = roles && openAccessBook(options, roles, apiKeySources, scope, () => roles?.ageMs ?? 0);
  const access = scope.use(createAccessControl(configuration, { ...options, metrics, apiKeySources, book }));
  const pages = await loadPages(logger);
  const view = scope.use(new SchemaReplica(coordinator.schema, { remembered, nowMs: now }));
  const membership = clusterMembership(view, coordinator);
  clusterId = () => membership.clusterId;
  rememberSchema(schemaMemory, view, logger, scope);
  const copies = scope.use(new CopiesReplica(coordinator.copies));
  const service = coordinator.copies;
  await rememberCopies({ dataPath, service, schema: view, logger }, scope);
  const retries = {
    shardWaitMs: configuration.shardWaitSeconds * 1000,
    held: new HeldRequests(configuration),
    nowMs: now,
  };
  const connections = new Map<string, NodeConnection>();
  const pool = scope.use(
    new RemoteNodePool(coordinator.nodes, {
      connect: (name, address) => {
        const connection = connectNode(name, address, {
          now,
          tls,
          schemaVersion: () => view.snapshot.version,
          onNodeSchemaVersion: (version) => view.notice(version),
          limits: { messageBytesMax: configuration.internalMessageBytesMax },
        });
        connections.set(name, connection);
        return connection;
      },
      remembered: await recall(nodesMemory, "the list of storage nodes", logger),
      ...retries,
    }),
  );
  remember(nodesMemory, "the list of storage nodes", logger, scope, (keep) => {
    if (pool.directory !== undefined) keep(pool.directory);
    return pool.onChange(keep);
  });

  if (metrics !== undefined) {
    describeMembership(metrics, membership);
    describeSchemaVersion(metrics, () => view.snapshot.version);
    describeDirectory(metrics, () => pool.directory);
    const byState = "Storage nodes that this gateway knows, by state.";
    labelledGauge(metrics, "shoal_node_connections", byState, "state", () => {
      const counts = { connecting: 0, ready: 0, draining: 0, unreachable: 0 };
      for (const { record } of pool.nodes) {
        const state = connections.get(record.name)?.state;
        if (state !== undefined) counts[state]++;
      }
      return counts;
    });
    gauge(
      metrics,
      "shoal_held_requests",
      "Requests that wait for a storage node which restarts.",
      () => retries.held.count,
    );
  }

  const nodeCount = () => (pool.directory === undefined ? 1 : storageNodeCount(pool.directory));
  const extensions = await followExtensions(coordinator.extensions, dataPath, logger, scope);
  modules = await openModules(options, extensions, moduleTls, scope);
  const gateway = scope.use(
    assembleGateway(
      options,
      {
        ...{ schema: coordinator.schema, jobs: coordinator.jobs, worker: randomUUID() },
        ...{ view, pool, nodeCount, modules, connectionsMax },
        copies: { view: copies, random: Math.random, ...retries },
        ...{ access, audit, book, pages, metrics, certificate },
      },
      scope,
    ),
  );
  auditLog = gateway.audit;
  const { url } = await gateway.listen();
  const drain = () => gateway.drain();
  if (!(await modulesReady(modules, stopping))) return { drain };
  let mayRemember = false;
  const awaited = (): string => {
    if (!view.isKnown || pool.directory === undefined || extensions.snapshot === undefined) {
      return "it waits for the schema of a coordinator";
    }
    if (roles !== undefined && roles.snapshot === undefined) return "it waits for the roles and users of a coordinator";
    if (!pool.isReported && !mayRemember) return "it waits for a coordinator, and soon goes by what it remembers";
    const { nodes, expectedStorageNodes } = pool.directory;
    return pool.isComplete ? "" : `${nodes.length} of ${expectedStorageNodes} storage nodes have registered so far`;
  };
  let isOpenAccessReported = false;
  const look = (): void => {
    if (awaited() !== "") return;
    gateway.markReady();
    if (!isOpenAccessReported) isOpenAccessReported = warnOfOpenAccess(configuration, access, logger);
  };
  const lookTimer = setTimeout(() => {
    mayRemember = true;
    look();
  }, COORDINATOR_WAIT_MS);
  scope.defer(() => clearTimeout(lookTimer));
  scope.use(view.onChange(look));
  scope.use(pool.onChange(look));
  scope.use(extensions.onChange(look));
  if (roles !== undefined) scope.use(roles.watch(look));
  look();
  notReady = () => (gateway.isReady ? membership.fault : awaited() || "it is draining");
  const coordinators = configuration.coordinatorAddresses;
  logger.info({ url, coordinators, tls: tls !== undefined, ...describeModules(options) }, "serving");
  options.onListening(url);
  return { drain };
}

/** What it holds can be lost: it need not be entered durably, which takes the engine that a gateway does not load. */
async function makeMemoryFolder(path: string, logger: Logger): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await warnOfReaders(path, logger);
}

/** So often the store is asked within the time that a gateway may go on with the roles it knows, where that is bounded. */
const CONFIRMS = 5;
const CONFIRM_TIMEOUT_MS = 3_000;

/** Without any knowledge of who may do what, nobody may do anything. `service` connects, and tells of it when this has resolved. */
async function followAccess(
  service: () => AccessService,
  dataPath: string,
  { configuration, logger, clock }: Pick<ProcessOptions, "configuration" | "logger" | "clock">,
  scope: ResourceScope,
): Promise<FollowedAccess> {
  const what = "what roles and users there are";
  const memory = entriesMemory<AccessSnapshot>(jsonFileMemory(dataPath, KNOWN_ACCESS));
  const remembered = await recall(memory, what, logger);
  const access = scope.use(new FollowedAccess(service(), logger, () => clock.now(), remembered));
  remember(memory, what, logger, scope, (keep) => access.watch(keep));
  const { staleSecondsMax = 0 } = configuration.roles ?? {};
  if (staleSecondsMax > 0) {
    const asking = setInterval(() => void access.confirm(CONFIRM_TIMEOUT_MS), (staleSecondsMax * 1000) / CONFIRMS);
    scope.use({ [Symbol.dispose]: () => clearInterval(asking) });
  }
  return access;
}

/** What users taught modules changes vectors: without any knowledge of it, nothing should be vectorized. */
async function followExtensions(
  service: ExtensionService,
  dataPath: string,
  logger: Logger,
  scope: ResourceScope,
): Promise<FollowedExtensions> {
  const what = "what modules were taught";
  const memory = entriesMemory<ExtensionsSnapshot>(jsonFileMemory(dataPath, "extensions.json"));
  const extensions = scope.use(new FollowedExtensions(service, await recall(memory, what, logger)));
  remember(memory, what, logger, scope, (keep) => {
    const look = (): void => {
      if (extensions.snapshot !== undefined) keep(extensions.snapshot);
    };
    look();
    return extensions.onChange(look);
  });
  return extensions;
}
