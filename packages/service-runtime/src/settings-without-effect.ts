import type { Setting, SettingsReader } from "./setting.js";
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

/** Settings that act only while others say so. */
interface Condition {
  readonly settings: readonly Setting<unknown>[];
  readonly holds: (settings: SettingsReader, command: ServiceCommand | undefined) => boolean;
  /** Why they have no effect where it does not hold. */
  readonly otherwise: string;
}

/** Of the settings of modules `MODULE_CACHE_PATH` has none: images set it, whichever modules there are. */
const CONDITIONS: readonly Condition[] = [
  {
    settings: [SERVER.metricsHost],
    holds: (settings) => isSet(settings, SERVER.metricsPort),
    otherwise: `${SERVER.metricsPort.variable} is not set`,
  },
  {
    // Only the port of metrics is spoken to over HTTP, but for `serve` and `gateway`.
    settings: [SERVER.allowedHosts],
    holds: (settings, command) =>
      command === undefined || command === "serve" || command === "gateway" || isSet(settings, SERVER.metricsPort),
    otherwise: `${SERVER.metricsPort.variable} is not set`,
  },
  {
    settings: [SERVER.debug],
    holds: (settings) => !isSet(settings, SERVER.logLevel),
    otherwise: `${SERVER.logLevel.variable} is set, and counts`,
  },
  {
    settings: [LIMIT_SETTINGS.graphqlRowsMax],
    holds: (settings) =>
      settings.read(LIMIT_SETTINGS.graphqlRowsMax) >= settings.read(QUERY_SETTINGS.queryMaximumResults),
    otherwise: `${QUERY_SETTINGS.queryMaximumResults.variable} is more, and counts`,
  },
  {
    settings: [SCHEMA.autoSchemaDefaultString, SCHEMA.autoSchemaDefaultNumber, SCHEMA.autoSchemaDefaultDate],
    holds: (settings) => settings.read(SCHEMA.autoSchemaEnabled),
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
    holds: (settings) => settings.read(AUTHENTICATION.apiKeysEnabled),
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
    holds: (settings) =>
      settings.read(AUTHENTICATION.oidcEnabled) ??
      (settings.read(AUTHENTICATION.requiresAuthentication) && !settings.read(AUTHENTICATION.apiKeysEnabled)),
    otherwise: `authentication by OpenID Connect is off (${AUTHENTICATION.oidcEnabled.key})`,
  },
  {
    settings: [
      AUTHENTICATION.adminListUsers,
      AUTHENTICATION.adminListReadOnlyUsers,
      AUTHENTICATION.adminListGroups,
      AUTHENTICATION.adminListReadOnlyGroups,
    ],
    holds: (settings) => settings.read(AUTHENTICATION.adminListEnabled),
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
    holds: (settings) => settings.read(ROLES.rbacEnabled) ?? settings.read(ROLES.rbacEnabledFormerly) ?? false,
    otherwise: `roles are off (${ROLES.rbacEnabled.key})`,
  },
  {
    settings: [CLUSTER.internalTlsCaFile, CLUSTER.internalTlsCertFile, CLUSTER.internalTlsKeyFile],
    holds: (settings, command) =>
      settings.read(MODULES.contextionaryTls) || (command !== "serve" && settings.read(CLUSTER.internalTls) !== "off"),
    otherwise: `TLS between processes is off (${CLUSTER.internalTls.key}; of 'shoal serve', ${MODULES.contextionaryTls.key})`,
  },
  {
    settings: [CLUSTER.heldRequestBytesMax],
    holds: (settings) => settings.read(CLUSTER.shardWaitSeconds) > 0,
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
    holds: (settings) => isSet(settings, CLUSTER.etcdEndpoints),
    otherwise: `${CLUSTER.etcdEndpoints.variable} is not set`,
  },
  {
    settings: [CLUSTER.etcdPassword],
    holds: (settings) => isSet(settings, CLUSTER.etcdUsername),
    otherwise: `${CLUSTER.etcdUsername.variable} is not set`,
  },
];

function ofModule(name: string, settings: readonly Setting<unknown>[]): Condition {
  const { enableModules } = MODULES;
  return {
    settings,
    holds: (settings) => settings.read(enableModules)?.includes(name) ?? true,
    otherwise: `${enableModules.variable} does not name ${name}`,
  };
}

/**
 * Warns of each setting that is set and does nothing in this process: `command` does not read it, or what it belongs to is off. Where
 * many are for other commands, as in a file that all processes of a cluster share, those of the same commands are one line.
 */
export function warnOfSettingsWithoutEffect(command: ServiceCommand | undefined, reader: SettingsReader): void {
  const unread = new Map<string, string[]>();
  for (const setting of SETTINGS) {
    const found = reader.find(setting);
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
    reader.warn(`${places.join(", ")} ${are} set but ${have} no effect on 'shoal ${command}': ${they} on ${readers}`);
  }
  const warned = new Set<Setting<unknown>>();
  for (const { settings, holds, otherwise } of CONDITIONS) {
    if (!settings.some((setting) => isSet(reader, setting)) || holds(reader, command)) continue;
    for (const setting of settings) {
      const found = reader.find(setting);
      if (found === undefined || warned.has(setting) || !isReadBy(setting, command)) continue;
      warned.add(setting);
      reader.warn(`${found.place} is set but has no effect: ${otherwise}`);
    }
  }
}

function isReadBy(setting: Setting<unknown>, command: ServiceCommand | undefined): boolean {
  return command === undefined || readersOf(setting).includes(command);
}

function isSet(settings: SettingsReader, setting: Setting<unknown>): boolean {
  return settings.find(setting) !== undefined;
}
