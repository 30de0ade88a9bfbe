import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { MetaStore } from "@shoal/coordinator";
import { EtcdMetaStore } from "@shoal/coordinator/etcd";
import { ShoalError } from "@shoal/model";
import { messageInFull, type NodeDirectory } from "@shoal/rpc";
import { createRpcServer, findNodeAt } from "@shoal/rpc/grpc";
import type { ResourceScope, Service } from "@shoal/service-runtime";
import { drainServer } from "./drain-server.js";
import { describeDirectory, describeReachability, describeSchemaVersion, openInternalPort } from "./internal-port.js";
import { ballastOf, makeDataFolder } from "./make-data-folder.js";
import { openCoordinator, openEmbeddedMetaStore } from "./open-coordinator.js";
import type { ProcessOptions } from "./process-options.js";
import { followEtcdCertificates, followInternalTls } from "./tls-files.js";

const PORT = 7100;
const RETRY_MS = 300;
/** How often the store is asked whether it is there, for `/ready`. */
const LOOK_MS = 2_000;

/** The schema and the list of storage nodes, served to gateways and storage nodes; on etcd beside other coordinators. */
export async function startCoordinator(
  options: ProcessOptions,
  scope: ResourceScope,
  stopping: AbortSignal,
): Promise<Service> {
  const { clock, configuration, logger } = options;
  const { internalHost, internalPort = PORT, expectedStorageNodes, replicationFactor, schemaShardsMax } = configuration;
  let notReady = (): string => "it is starting";
  const metrics = await openInternalPort({ ...options, notReady: () => notReady() }, scope);
  const tls = await followInternalTls(configuration, "coordinator", logger, scope);

  let lose = (_: ShoalError): void => {};
  const failed = new Promise<never>((_, reject) => {
    lose = reject;
  });
  failed.catch(() => undefined);
  const { etcdEndpoints } = configuration;
  const store =
    etcdEndpoints.length === 0
      ? await openOwnStore(options, scope)
      : await openEtcd(options, scope, stopping, {
          onLost: (error) => lose(error),
          onWaiting: (why) => (notReady = () => why),
        });
  if (store === undefined) return { drain: async () => undefined };
  const shardLimit = { max: schemaShardsMax, reason: "SCHEMA_SHARDS_MAX" };
  const { schema, nodes, jobs, extensions, access, copies } = await openCoordinator(
    options,
    {
      ...{ store, expectedStorageNodes, defaultFactor: replicationFactor, shardLimit },
      findNode: (name, address) => findNodeAt(name, address, { now: () => clock.now(), tls }),
    },
    scope,
  );

  const server = scope.use(
    await createRpcServer(
      { schema, nodes, jobs, extensions, access, copies },
      { host: internalHost, port: internalPort, now: () => clock.now(), tls, clusterId: () => schema.clusterId },
    ),
  );
  let fault = "";
  const looking = setInterval(() => {
    schema.current({ deadline: clock.now() + LOOK_MS }).then(
      () => {
        fault = "";
      },
      (thrown: unknown) => {
        fault = messageInFull(thrown);
      },
    );
  }, LOOK_MS);
  scope.defer(() => clearInterval(looking));
  if (metrics !== undefined) {
    let schemaVersion = 0;
    let directory: NodeDirectory | undefined;
    scope.use(schema.watch((snapshot) => (schemaVersion = snapshot.version)));
    scope.use(nodes.watch((current) => (directory = current)));
    describeSchemaVersion(metrics, () => schemaVersion);
    describeDirectory(metrics, () => directory);
    const help = "1 while etcd, or the embedded store, answers the coordinator.";
    describeReachability(metrics, "shoal_meta_store_reachable", help, () => fault);
  }
  notReady = () => fault;
  logger.info({ port: server.port, tls: tls !== undefined, etcd: etcdEndpoints }, "serving");
  return {
    failed,
    async drain() {
      notReady = () => "it is draining";
      await drainServer(server, configuration.drainTimeoutSeconds);
    },
  };
}

async function openOwnStore(options: ProcessOptions, scope: ResourceScope): Promise<MetaStore> {
  const dataPath = resolve(options.configuration.dataPath);
  await makeDataFolder(dataPath, options.logger);
  return scope.use(await openEmbeddedMetaStore(options, dataPath, ballastOf(dataPath), scope));
}

interface EtcdEvents {
  readonly onLost: (error: ShoalError) => void;
  readonly onWaiting: (why: string) => void;
}

/** Waits for etcd as long as it takes; undefined when the process has to stop meanwhile. */
async function openEtcd(
  { clock, configuration, logger }: ProcessOptions,
  scope: ResourceScope,
  stopping: AbortSignal,
  { onLost, onWaiting }: EtcdEvents,
): Promise<EtcdMetaStore | undefined> {
  const {
    etcdEndpoints: endpoints,
    etcdUsername: username,
    etcdPassword: password,
    etcdPrefix: prefix,
  } = configuration;
  const user = username === "" ? {} : { username, password };
  const certificates = await followEtcdCertificates(configuration, logger, scope);
  const nowMs = () => clock.now();
  for (let isReported = false; !stopping.aborted; isReported = true) {
    try {
      const etcd = { endpoints, ...user, ...certificates.current() };
      const store = scope.use(await EtcdMetaStore.open({ ...etcd, prefix, nowMs, newId: randomUUID, onLost }));
      scope.use(certificates.onChange((fresh) => store.renew(fresh)));
      return store;
    } catch (thrown) {
      const error = ShoalError.from(thrown);
      if (error.code !== "unavailable") throw error;
      if (!isReported) logger.warn({ error }, "etcd cannot be reached yet");
      onWaiting(error.message);
      await sleep(RETRY_MS);
    }
  }
  return undefined;
}
