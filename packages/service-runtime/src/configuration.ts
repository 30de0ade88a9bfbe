import type { AdminListConfiguration, AuthenticationConfiguration } from "./authentication.js";
import { readMemoryBudget, readWithinBudget, warnOfPromises } from "./fit-memory.js";
import { warnOfFormerSettings } from "./former-settings.js";
import type { MemoryLimit } from "./memory-limit.js";
import { readAuthentication, readAuthorization } from "./read-authentication.js";
import { type RolesConfiguration, readRoles, warnOfEqualUsers } from "./read-roles.js";
import { refused, type Setting, type SettingSource, SettingsReader, type Warn } from "./setting.js";
import { PLAIN_SETTINGS } from "./setting-groups.js";
import type { ServiceCommand } from "./setting-readers.js";
import { ROLE_SETTINGS } from "./settings/roles.js";
import { warnOfSettingsWithoutEffect } from "./settings-without-effect.js";
import { refuseUnbuiltFeatures } from "./unbuilt-features.js";

type ValueOf<S> = S extends Setting<infer T> ? T : never;
type PlainConfiguration = {
  readonly [Name in keyof typeof PLAIN_SETTINGS]: Name extends "memoryBudgetBytes"
    ? number
    : ValueOf<(typeof PLAIN_SETTINGS)[Name]>;
};

/** Where nobody says what memory there is, defaults are not made smaller and nothing is refused for it. */
const UNBOUNDED: MemoryLimit = { bytes: Number.POSITIVE_INFINITY, source: "" };

/** What the operator wants, checked as a whole. Settings that only make sense together are one value. */
export interface Configuration extends PlainConfiguration {
  readonly authentication: AuthenticationConfiguration;
  /** Undefined: everybody who gets in may do everything. */
  readonly authorization: AdminListConfiguration | undefined;
  /** Undefined: roles are off. */
  readonly roles: RolesConfiguration | undefined;
  /** Whether users can be made at run time. */
  readonly databaseUsers: boolean;
}

/**
 * Reads every setting from the first source that has it. Fails with `invalid` on the first bad value, and on values
 * that ask for something this version does not have. `warn` gets what is accepted but probably not meant. `limit`: the memory
 * that the process has, which `MEMORY_BUDGET_BYTES` and the defaults of caches go by. `command`: what the process runs; undefined where
 * nobody is to be told of settings that are for others.
 */
export function readConfiguration(
  sources: readonly SettingSource[],
  warn: Warn,
  limit: MemoryLimit = UNBOUNDED,
  command?: ServiceCommand,
): Configuration {
  const settings = new SettingsReader(sources, warn);
  refuseUnbuiltFeatures(settings);
  warnOfFormerSettings(settings);
  warnOfSettingsWithoutEffect(command, settings);
  const memoryBudgetBytes = readMemoryBudget(settings, limit);
  const values: Record<string, unknown> = {};
  for (const [name, one] of Object.entries<Setting<unknown>>(PLAIN_SETTINGS)) {
    values[name] = readWithinBudget(one, settings, memoryBudgetBytes);
  }
  const plain = { ...(values as PlainConfiguration), memoryBudgetBytes };
  warnOfPromises(plain, memoryBudgetBytes, settings);
  checkTogether(plain, settings);
  const authentication = readAuthentication(settings);
  const authorization = readAuthorization(settings, authentication);
  const roles = readRoles(settings, authentication);
  warnOfEqualUsers(settings, { roles, authorization });
  return {
    ...plain,
    logLevel: plain.debug && settings.find(PLAIN_SETTINGS.logLevel) === undefined ? "debug" : plain.logLevel,
    authentication,
    authorization,
    roles,
    databaseUsers: settings.read(ROLE_SETTINGS.databaseUsers),
  };
}

/** Rules between settings. */
function checkTogether(configuration: PlainConfiguration, settings: SettingsReader): void {
  const { queryDefaultsLimit, queryMaximumResults, tlsCertFile, tlsKeyFile } = configuration;
  if ((tlsCertFile === undefined) !== (tlsKeyFile === undefined)) {
    const { tlsCertFile: cert, tlsKeyFile: key } = PLAIN_SETTINGS;
    const [missing, given] = tlsCertFile === undefined ? [cert, key] : [key, cert];
    throw refused(`${missing.variable} must be set where ${given.variable} is`);
  }
  if (queryDefaultsLimit <= queryMaximumResults) return;
  const limit = settings.placeOf(PLAIN_SETTINGS.queryDefaultsLimit);
  const most = settings.placeOf(PLAIN_SETTINGS.queryMaximumResults);
  throw refused(`${limit} must be at most ${most}, which is ${queryMaximumResults}, got ${queryDefaultsLimit}`);
}
