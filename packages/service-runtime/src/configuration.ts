import { ShoalError } from "@shoal/model";
import type { AdminListConfiguration, AuthenticationConfiguration } from "./authentication.js";
import { readMemoryBudget, readWithinBudget, warnOfPromises } from "./fit-memory.js";
import { warnOfFormerSettings } from "./former-settings.js";
import type { MemoryLimit } from "./memory-limit.js";
import { readAuthentication, readAuthorization, type Warn } from "./read-authentication.js";
import { type RolesConfiguration, readDatabaseUsers, readRoles, warnOfEqualUsers } from "./read-roles.js";
import { findValue, placeOf, type Setting, type SettingSource } from "./setting.js";
import { PLAIN_SETTINGS } from "./setting-groups.js";
import type { ServiceCommand } from "./setting-readers.js";
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
 * that ask for something this version does not have. `warn` is told what is accepted but probably not meant. `limit`: the memory
 * that the process has, which `MEMORY_BUDGET_BYTES` and the defaults of caches go by. `command`: what the process runs; undefined where
 * nobody is to be told of settings that are for others.
 */
export function readConfiguration(
  sources: readonly SettingSource[],
  warn: Warn,
  limit: MemoryLimit = UNBOUNDED,
  command?: ServiceCommand,
): Configuration {
  refuseUnbuiltFeatures(sources);
  warnOfFormerSettings(sources, warn);
  warnOfSettingsWithoutEffect(command, sources, warn);
  const memoryBudgetBytes = readMemoryBudget(sources, limit, warn);
  const values: Record<string, unknown> = {};
  for (const [name, one] of Object.entries<Setting<unknown>>(PLAIN_SETTINGS)) {
    values[name] = readWithinBudget(one, sources, memoryBudgetBytes);
  }
  const plain = { ...(values as PlainConfiguration), memoryBudgetBytes };
  warnOfPromises(plain, memoryBudgetBytes, warn);
  checkTogether(plain, sources);
  const authentication = readAuthentication(sources, warn);
  const authorization = readAuthorization(sources, authentication, warn);
  const roles = readRoles(sources, authentication, warn);
  warnOfEqualUsers(sources, { roles, authorization }, warn);
  return {
    ...plain,
    logLevel: plain.debug && findValue(PLAIN_SETTINGS.logLevel, sources) === undefined ? "debug" : plain.logLevel,
    authentication,
    authorization,
    roles,
    databaseUsers: readDatabaseUsers(sources),
  };
}

/** Rules between settings. */
function checkTogether(configuration: PlainConfiguration, sources: readonly SettingSource[]): void {
  const { queryDefaultsLimit, queryMaximumResults, tlsCertFile, tlsKeyFile } = configuration;
  if ((tlsCertFile === undefined) !== (tlsKeyFile === undefined)) {
    const { tlsCertFile: cert, tlsKeyFile: key } = PLAIN_SETTINGS;
    const [missing, given] = tlsCertFile === undefined ? [cert, key] : [key, cert];
    throw new ShoalError("invalid", `${missing.variable} must be set where ${given.variable} is`);
  }
  if (queryDefaultsLimit <= queryMaximumResults) return;
  const limit = placeOf(PLAIN_SETTINGS.queryDefaultsLimit, sources);
  const most = placeOf(PLAIN_SETTINGS.queryMaximumResults, sources);
  throw new ShoalError(
    "invalid",
    `${limit} must be at most ${most}, which is ${queryMaximumResults}, got ${queryDefaultsLimit}`,
  );
}
