import type { Setting } from "./setting.js";
import { AUTHENTICATION_SETTINGS } from "./settings/authentication.js";
import { CLUSTER_SETTINGS as CLUSTER } from "./settings/cluster.js";
import { LIMIT_SETTINGS as LIMITS, MEMORY_SETTINGS as MEMORY } from "./settings/limits.js";
import { MODULE_SETTINGS as MODULES } from "./settings/modules.js";
import { QUERY_SETTINGS } from "./settings/queries.js";
import { ROLE_SETTINGS as ROLES } from "./settings/roles.js";
import { SCHEMA_SETTINGS as SCHEMA } from "./settings/schema.js";
import { SERVER_SETTINGS as SERVER } from "./settings/server.js";
import { TIMEOUT_SETTINGS as TIMES } from "./settings/timeouts.js";

/** What runs until it is stopped: `shoal serve` and its like. */
export const SERVICE_COMMANDS = ["serve", "gateway", "storage-node", "coordinator", "contextionary"] as const;
export type ServiceCommand = (typeof SERVICE_COMMANDS)[number];

type Commands = readonly ServiceCommand[];

const FOR_CLIENTS: Commands = ["serve", "gateway"];
const WITH_SHARDS: Commands = ["serve", "storage-node"];
const WITH_CHANGES_OF_SCHEMA: Commands = ["serve", "gateway", "coordinator"];
const WITH_INTERNAL_PORT: Commands = ["storage-node", "coordinator", "contextionary"];

/** Groups, then what is otherwise of them; of settings that are in none, the commands are all. */
const READERS: readonly (readonly [Commands, readonly Setting<unknown>[]])[] = [
  [
    FOR_CLIENTS,
    [QUERY_SETTINGS, SCHEMA, MODULES, AUTHENTICATION_SETTINGS, ROLES, TIMES, LIMITS].flatMap(
      (group): readonly Setting<unknown>[] => Object.values(group),
    ),
  ],
  [
    FOR_CLIENTS,
    [
      ...[SERVER.host, SERVER.port, SERVER.origin, SERVER.corsAllowOrigin, SERVER.allowAnonymousRemote],
      ...[SERVER.tlsCertFile, SERVER.tlsKeyFile, SERVER.wireProfile, SERVER.auditLog],
    ],
  ],
  [
    WITH_SHARDS,
    [
      ...[SERVER.nodeName, LIMITS.objectBytesMax, CLUSTER.acceptDataLoss],
      ...[MEMORY.storeMemoryBytes, MEMORY.rowCacheBytes, MEMORY.indexCacheBytes],
    ],
  ],
  [["serve", "gateway", "storage-node"], [MEMORY.memoryBudgetBytes]],
  [["serve", "gateway", "storage-node", "coordinator"], [TIMES.drainTimeoutSeconds]],
  [["serve", "gateway", "contextionary"], [MODULES.moduleCachePath]],
  [WITH_CHANGES_OF_SCHEMA, [SCHEMA.schemaClassesMax, SCHEMA.schemaClassPropertiesMax]],
  [["serve", "storage-node", "coordinator"], [SCHEMA.schemaShardsMax]],
  [["gateway"], [ROLES.rbacStaleSecondsMax, CLUSTER.shardWaitSeconds, CLUSTER.heldRequestBytesMax]],
  [
    ["gateway", "storage-node"],
    [CLUSTER.coordinatorAddresses, CLUSTER.internalMessageBytesMax],
  ],
  [WITH_INTERNAL_PORT, [CLUSTER.internalHost, CLUSTER.internalPort]],
  [
    ["storage-node"],
    [
      ...[CLUSTER.internalAdvertisedAddress, CLUSTER.internalConnectionBytesMax, CLUSTER.internalAnswersBytesMax],
      ...[CLUSTER.copyLeaseMilliseconds, CLUSTER.journalKeepEntries, CLUSTER.copyTransferBytesPerSecond],
    ],
  ],
  // A server in one process shows its certificate to a contextionary only.
  [["gateway", ...WITH_INTERNAL_PORT], [CLUSTER.internalTls]],
  [
    ["coordinator"],
    [
      ...[CLUSTER.expectedStorageNodes, CLUSTER.replicationFactor, CLUSTER.etcdEndpoints, CLUSTER.etcdPrefix],
      ...[CLUSTER.etcdUsername, CLUSTER.etcdPassword, CLUSTER.etcdCaFile, CLUSTER.etcdCertFile, CLUSTER.etcdKeyFile],
    ],
  ],
];

const readers = new Map(
  READERS.flatMap(([commands, settings]) => settings.map(({ variable }) => [variable, commands] as const)),
);

/** The commands that read a setting. */
export function readersOf({ variable }: Pick<Setting<unknown>, "variable">): readonly ServiceCommand[] {
  return readers.get(variable) ?? SERVICE_COMMANDS;
}
