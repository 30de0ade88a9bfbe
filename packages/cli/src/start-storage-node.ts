import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { SchemaReplica } from "@shoal/cluster";
import { identityOf } from "@shoal/coordinator";
import { initialConfigurations } from "@shoal/rpc";
import { CONNECTIONS_MAX, connectPeer, createRpcServer } from "@shoal/rpc/grpc";
import type { ResourceScope, Service } from "@shoal/service-runtime";
import { findNodeIdentity } from "@shoal/storage-node";
import { drainServer } from "./drain-server.js";
import { clusterMembership, describeMembership, followCoordinators, untilKnown } from "./follow-coordinators.js";
import { describeReachability, describeSchemaVersion, openInternalPort } from "./internal-port.js";
import { advertisedAddress, keepRegistered } from "./keep-registered.js";
import { rememberCopies } from "./known-copies.js";
import { ballastOf, makeDataFolder } from "./make-data-folder.js";
import { openCopies } from "./open-copies.js";
import { openFilesLimit, planOpenFiles } from "./open-files.js";
import { nameFolder, openStorageNode } from "./open-storage-node.js";
import type { ProcessOptions } from "./process-options.js";
import { refuseLostData, refuseLostList, shardsPlacedOn } from "./refuse-lost-data.js";
import { recallSchema, rememberSchema } from "./remember.js";
import { schemaStoreMemory } from "./schema-store.js";
import { followInternalTls, refuseForeignCertificate } from "./tls-files.js";

const PORT = 7101;

/** The shards of one node, served to gateways. */
export async function startStorageNode(
  options: ProcessOptions,
  scope: ResourceScope,
  stopping: AbortSignal,
): Promise<Service> {
  const { clock, configuration, configuredNodeName, logger, shoalVersion, gitHash } = options;
  const { internalHost, internalPort = PORT, coordinatorAddresses, schemaShardsMax } = configuration;
  const now = () => clock.now();
  const dataPath = resolve(configuration.dataPath);
  await makeDataFolder(dataPath, logger);
  const openFiles = planOpenFiles(openFilesLimit(), { shardsMax: schemaShardsMax, connectionsMax: CONNECTIONS_MAX });
  let notReady = (): string => "it waits for the schema of a coordinator";
  const metrics = await openInternalPort({ ...options, notReady: () => notReady() }, scope);
  const tls = await followInternalTls(configuration, "storage-node", logger, scope);

  const ballast = ballastOf(dataPath);
  // Opened first: its lock keeps a second process off the folder.
  const memory = await schemaStoreMemory(options, dataPath, ballast, scope);
  const identity = await findNodeIdentity(dataPath, configuredNodeName, hostname());
  const { name: nodeName, isNew } = identity;
  if (!configuration.acceptDataLoss) await refuseLostList(dataPath, identity);
  if (tls) refuseForeignCertificate(nodeName, configuration, tls);
  // In a folder that is not the node's own yet, it knows the schema of a start that was refused.
  const remembered = isNew ? undefined : await recallSchema(memory, logger);
  // Known before the first call: a coordinator of another cluster is not to be believed.
  const storedClusterId = identity.clusterId ?? remembered?.clusterId;
  let clusterId = (): string | undefined => storedClusterId;
  const coordinator = scope.use(
    followCoordinators(coordinatorAddresses, { now, tls, logger, clusterId: () => clusterId() }, scope),
  );
  const view = scope.use(new SchemaReplica(coordinator.schema, { remembered, nowMs: now }));
  const membership = clusterMembership(view, coordinator, storedClusterId);
  clusterId = () => membership.clusterId;
  if (metrics !== undefined) describeMembership(metrics, membership);
  notReady = () => membership.fault || "it waits for the schema of a coordinator";
  const known = rememberSchema(memory, view, logger, scope);

  if (!(await untilKnown(view, stopping))) return { drain: async () => undefined };
  if (isNew && !configuration.acceptDataLoss && shardsPlacedOn(nodeName, view.snapshot) > 0) {
    const { configurations } = await coordinator.copies.current({ deadline: Number.POSITIVE_INFINITY });
    refuseLostData(nodeName, dataPath, view.snapshot, ({ classId, sharding }, { name }) => {
      return configurations.get(`${classId}/${name}`) ?? initialConfigurations(sharding).get(name);
    });
  }
  const owner = await nameFolder(dataPath, identity, membership.clusterId, logger);
  const { secret } = owner;
  await rememberCopies({ dataPath, node: nodeName, service: coordinator.copies, schema: view, logger }, scope);
  const onProgress = (done: number, all: number): void => {
    notReady = () => `${done} of ${all} shards are open`;
  };
  const copies = openCopies(
    options,
    {
      ...{ nodeName, secret, service: coordinator.copies, nodes: coordinator.nodes, metrics },
      connect: (name, at) => {
        const bounds = { messageBytesMax: configuration.internalMessageBytesMax };
        return connectPeer(name, at, { from: nodeName, tls, clusterId: () => clusterId(), limits: bounds });
      },
    },
    scope,
  );
  const { node, openFiles: plan } = await openStorageNode(
    options,
    {
      ...{ owner, dataPath, ballast, schema: view, openFiles, onProgress, metrics, copies },
      drops: { nodes: coordinator.nodes, kept: () => known.kept() },
    },
    scope,
  );

  const { connectionsMax } = plan;
  if (connectionsMax < CONNECTIONS_MAX) {
    logger.warn(
      { connectionsMax, openFiles: plan.limit },
      "there are open files for few internal connections (ulimit -n)",
    );
  }
  const limits = {
    messageBytesMax: configuration.internalMessageBytesMax,
    answerBytesMax: configuration.internalMessageBytesMax,
    heldBytesMax: configuration.internalConnectionBytesMax,
    answersBytesMax: configuration.internalAnswersBytesMax,
  };
  const processId = randomUUID();
  const server = scope.use(
    await createRpcServer(
      { node, presence: { identity: identityOf(secret), process: processId }, peers: copies },
      { host: internalHost, port: internalPort, connectionsMax, now, tls, limits },
    ),
  );
  const address = advertisedAddress(configuration, server.port, hostname());
  const registration = scope.use(
    keepRegistered(
      coordinator.nodes,
      { name: nodeName, address, shoalVersion, gitHash },
      { secret, process: processId, replaces: configuration.acceptDataLoss },
      { clock, logger },
    ),
  );
  if (metrics !== undefined) {
    describeSchemaVersion(metrics, () => view.snapshot.version);
    const help = "1 while a coordinator knows this storage node under its address.";
    describeReachability(metrics, "shoal_registered", help, () => registration.fault);
  }
  notReady = () => membership.fault || registration.fault;
  logger.info({ node: nodeName, address, dataPath, tls: tls !== undefined }, "serving");
  return {
    async drain() {
      notReady = () => "it is draining";
      await copies.leave();
      await drainServer(server, configuration.drainTimeoutSeconds);
    },
  };
}
