import type { Setting } from "./setting.js";
import { AUTHENTICATION_SETTINGS } from "./settings/authentication.js";
import { CLUSTER_SETTINGS } from "./settings/cluster.js";
import { LIMIT_SETTINGS, MEMORY_SETTINGS } from "./settings/limits.js";
import { MODULE_SETTINGS } from "./settings/modules.js";
import { QUERY_SETTINGS } from "./settings/queries.js";
import { ROLE_SETTINGS } from "./settings/roles.js";
import { SCHEMA_SETTINGS } from "./settings/schema.js";
import { SERVER_SETTINGS } from "./settings/server.js";
import { TIMEOUT_SETTINGS } from "./settings/timeouts.js";

/** The settings that code receives one by one, named as it names them. */
export const PLAIN_SETTINGS = {
  ...SERVER_SETTINGS,
  ...QUERY_SETTINGS,
  ...SCHEMA_SETTINGS,
  ...MODULE_SETTINGS,
  ...TIMEOUT_SETTINGS,
  ...LIMIT_SETTINGS,
  ...MEMORY_SETTINGS,
  ...CLUSTER_SETTINGS,
} as const;

export interface SettingGroup {
  readonly title: string;
  readonly settings: readonly Setting<unknown>[];
}

function group(title: string, settings: Readonly<Record<string, Setting<unknown>>>): SettingGroup {
  return { title, settings: Object.values(settings) };
}

/** Every setting of every process, in the order of the documentation. */
export const SETTING_GROUPS: readonly SettingGroup[] = [
  group("Server", SERVER_SETTINGS),
  group("Queries", QUERY_SETTINGS),
  group("Schema", SCHEMA_SETTINGS),
  group("Modules", MODULE_SETTINGS),
  group("Authentication and authorization", { ...AUTHENTICATION_SETTINGS, ...ROLE_SETTINGS }),
  group("Times", TIMEOUT_SETTINGS),
  group("Limits", LIMIT_SETTINGS),
  group("Memory", MEMORY_SETTINGS),
  group("Cluster", CLUSTER_SETTINGS),
];

/** The same, in one list. */
export const SETTINGS: readonly Setting<unknown>[] = SETTING_GROUPS.flatMap(({ settings }) => settings);
