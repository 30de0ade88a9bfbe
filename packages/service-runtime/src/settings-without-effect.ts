import type { Warn } from "./read-authentication.js";
import { findValue, readSetting, type Setting, type SettingSource } from "./setting.js";
import { SETTINGS } from "./setting-groups.js";
import { readersOf, type ServiceCommand } from "./setting-readers.js";
import { AUTHENTICATION_SETTINGS as AUTHENTICATION } from "./settings/authentication.js";
import { CLUSTER_SETTINGS as CLUSTER } from "./settings/cluster.js";
import { LIMIT_SETTINGS } from "./settings/limits.js";
import { MODULE_SETTINGS as MODULES } from "./settings/modules.js";
import { QUERY_SETTINGS } from "./settings/queries.js";
import { ROLE_SETTINGS as ROLES } from "./settings/roles.js";
import { SCHEMA_SETTINGS as SCHEMA } from "./settings/schema.js";
import { SERVER_SETTINGS as SERVER } from "./settings/server.js";

/** What the operator has set, and for which command; undefined: none in particular. */
interface Given {
  readonly command: ServiceCommand | undefined;
  read<T>(setting: Setting<T>): T;
  isSet(setting: Setting<unknown>): boolean;
}

/** Settings that act only while others say so. */
interface Condition {
  readonly settings: readonly Setting<unknown>[];
  readonly holds: (given: Given) => boolean;
  /** Why they have no effect where it does not hold. */
  readonly otherwise: string;
}

/** Of the settings of modules `MODULE_CACHE_PATH` has none: images set it, whichever modules there are. */
const CONDITIONS: readonly Condition[] = [
  {
    settings: [SERVER.metricsHost],
    holds: ({ isSet }) => isSet(SERVER.metricsPort),
    otherwise: `${SERVER.metricsPort.variable} is not set`,
  },
  {
    settings: [SERVER.debug],
    holds: ({ isSet }) => !isSet(SERVER.logLevel),
    otherwise: `${SERVER.logLevel.variable} is set, and counts`,
  },
  {
    settings: [LIMIT_SETTINGS.graphqlRowsMax],
    holds: ({ read }) => read(LIMIT_SETTINGS.graphqlRowsMax) >= read(QUERY_SETTINGS.queryMaximumResults),
    otherwise: `${QUERY_SETTINGS.queryMaximumResults.variable} is more, and counts`,
  },
  {
    settings: [SCHEMA.autoSchemaDefaultString, SCHEMA.autoSchemaDefaultNumber, SCHEMA.autoSchemaDefaultDate],
    holds: ({ read }) => read(SCHEMA.autoSchemaEnabled),
    otherwise: `auto-schema is off (${SCHEMA.autoSchemaEnabled.key})`,
  },
  ofModule("text2vec-contextionary", [
    MODULES.contextionaryUrl,
    MODULES.contextionaryTls,
    MODULES.contextionaryStorageSecret,
  ]),
  ofModule("text2vec-transformers", [MODULES.transformersInferenceApi]),
  ofModule("qna-transformers", [MODULES.qnaInferenceApi]),
  ofModule("img2vec-neural", [MODULES.imageInferenceApi]),
  ofModule("ner-transformers", [MODULES.nerInferenceApi]),
  ofModule("text-spellcheck", [MODULES.spellcheckInferenceApi]),
  {
    settings: [AUTHENTICATION.apiKeysAllowed, AUTHENTICATION.apiKeysUsers, AUTHENTICATION.apiKeysFile],
    holds: ({ read }) => read(AUTHENTICATION.apiKeysEnabled),
    otherwise: `API keys are off (${AUTHENTICATION.apiKeysEnabled.key})`,
  },
  {
    settings: [
      AUTHENTICATION.oidcIssuer,
      AUTHENTICATION.oidcClientId,
      AUTHENTICATION.oidcSkipClientIdCheck,
      AUTHENTICATION.oidcUsernameClaim,
      AUTHENTICATION.oidcGroupsClaim,
      AUTHENTICATION.oidcScopes,
      AUTHENTICATION.oidcKeysUrl,
    ],
    holds: ({ read }) =>
      read(AUTHENTICATION.oidcEnabled) ??
      (read(AUTHENTICATION.requiresAuthentication) && !read(AUTHENTICATION.apiKeysEnabled)),
    otherwise: `authentication by OpenID Connect is off (${AUTHENTICATION.oidcEnabled.key})`,
  },
  {
    settings: [
      AUTHENTICATION.adminListUsers,
      AUTHENTICATION.adminListReadOnlyUsers,
      AUTHENTICATION.adminListGroups,
      AUTHENTICATION.adminListReadOnlyGroups,
    ],
    holds: ({ read }) => read(AUTHENTICATION.adminListEnabled),
    otherwise: `the admin list is off (${AUTHENTICATION.adminListEnabled.key})`,
  },
  {
    settings: [
      ROLES.rbacRootUsers,
      ROLES.rbacRootUsersFormerly,
      ROLES.rbacRootGroups,
      ROLES.rbacReadOnlyGroups,
      ROLES.rbacStaleSecondsMax,
    ],
    holds: ({ read }) => read(ROLES.rbacEnabled) ?? read(ROLES.rbacEnabledFormerly) ?? false,
    otherwise: `roles are off (${ROLES.rbacEnabled.key})`,
  },
  {
    settings: [CLUSTER.internalTlsCaFile, CLUSTER.internalTlsCertFile, CLUSTER.internalTlsKeyFile],
    holds: ({ command, read }) =>
      read(MODULES.contextionaryTls) || (command !== "serve" && read(CLUSTER.internalTls) !== "off"),
    otherwise: `TLS between processes is off (${CLUSTER.internalTls.key}; of 'shoal serve', ${MODULES.contextionaryTls.key})`,
  },
  {
    settings: [CLUSTER.heldRequestBytesMax],
    holds: ({ read }) => read(CLUSTER.shardWaitSeconds) > 0,
    otherwise: `${CLUSTER.shardWaitSeconds.variable} is 0: no request is held`,
  },
  {
    settings: [
      CLUSTER.etcdPrefix,
      CLUSTER.etcdUsername,
      CLUSTER.etcdPassword,
      CLUSTER.etcdCaFile,
      CLUSTER.etcdCertFile,
      CLUSTER.etcdKeyFile,
    ],
    holds: ({ isSet }) => isSet(CLUSTER.etcdEndpoints),
    otherwise: `${CLUSTER.etcdEndpoints.variable} is not set`,
  },
  {
    settings: [CLUSTER.etcdPassword],
    holds: ({ isSet }) => isSet(CLUSTER.etcdUsername),
    otherwise: `${CLUSTER.etcdUsername.variable} is not set`,
  },
];

function ofModule(name: string, settings: readonly Setting<unknown>[]): Condition {
  const { enableModules } = MODULES;
  return {
    settings,
    holds: ({ read }) => read(enableModules)?.includes(name) ?? true,
    otherwise: `${enableModules.variable} does not name ${name}`,
  };
}

/**
 * Warns of each setting that is set and does nothing in this process: `command` does not read it, or what it belongs to is off. Where
 * many are for other commands, as in a file that all processes of a cluster share, those of the same commands are one line.
 */
export function warnOfSettingsWithoutEffect(
  command: ServiceCommand | undefined,
  sources: readonly SettingSource[],
  warn: Warn,
): void {
  const unread = new Map<string, string[]>();
  for (const setting of SETTINGS) {
    const found = findValue(setting, sources);
    if (found === undefined || isReadBy(setting, command)) continue;
    const readers = readersOf(setting)
      .map((name) => `'shoal ${name}'`)
      .join(", ");
    const places = unread.get(readers);
    if (places === undefined) unread.set(readers, [found.place]);
    else places.push(found.place);
  }
  for (const [readers, places] of unread) {
    const [are, have, they] = places.length === 1 ? ["is", "has", "it acts"] : ["are", "have", "they act"];
    warn(`${places.join(", ")} ${are} set but ${have} no effect on 'shoal ${command}': ${they} on ${readers}`);
  }
  const given: Given = {
    command,
    read: (setting) => readSetting(setting, sources),
    isSet: (setting) => findValue(setting, sources) !== undefined,
  };
  const told = new Set<Setting<unknown>>();
  for (const { settings, holds, otherwise } of CONDITIONS) {
    if (settings.every((setting) => !given.isSet(setting)) || holds(given)) continue;
    for (const setting of settings) {
      const found = findValue(setting, sources);
      if (found === undefined || told.has(setting) || !isReadBy(setting, command)) continue;
      told.add(setting);
      warn(`${found.place} is set but has no effect: ${otherwise}`);
    }
  }
}

function isReadBy(setting: Setting<unknown>, command: ServiceCommand | undefined): boolean {
  return command === undefined || readersOf(setting).includes(command);
}
