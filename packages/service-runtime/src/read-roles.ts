import { ShoalError } from "@shoal/model";
import type { AuthenticationConfiguration } from "./authentication.js";
import { type Warn, warnOfGroups } from "./read-authentication.js";
import { findValue, placeOf, readSetting, type Setting, type SettingSource } from "./setting.js";
import { AUTHENTICATION_SETTINGS } from "./settings/authentication.js";
import { ROLE_SETTINGS as SETTINGS } from "./settings/roles.js";

/** Who has a role by the settings, whatever is assigned at run time. At least one user or group has `root`. */
export interface RolesConfiguration {
  readonly rootUsers: readonly string[];
  readonly rootGroups: readonly string[];
  /** Have the role `read-only`. */
  readonly readOnlyGroups: readonly string[];
  /** How long a gateway may go on with what it knows while it reaches no coordinator; 0: without end. */
  readonly staleSecondsMax: number;
}

/**
 * The settings of roles; undefined when roles are off. Fails with `invalid` when the admin list is on, too, when nobody has the
 * role `root`, so that nobody could ever give a role, when everybody is anonymous and anonymous has no role, and when a setting
 * contradicts its former name.
 */
export function readRoles(
  sources: readonly SettingSource[],
  authentication: AuthenticationConfiguration,
  warn: Warn,
): RolesConfiguration | undefined {
  const isOn = readRenamed("rbacEnabled", "rbacEnabledFormerly", sources) ?? false;
  if (!isOn) return undefined;
  if (readSetting(AUTHENTICATION_SETTINGS.adminListEnabled, sources)) {
    const list = placeOf(AUTHENTICATION_SETTINGS.adminListEnabled, sources);
    throw new ShoalError(
      "invalid",
      `invalid config: authorization: ${onPlace(sources)} and ${list} exclude each other: use roles or the admin list`,
    );
  }
  const rootUsers = readRenamed("rbacRootUsers", "rbacRootUsersFormerly", sources) ?? [];
  const rootGroups = readSetting(SETTINGS.rbacRootGroups, sources);
  const readOnlyGroups = readSetting(SETTINGS.rbacReadOnlyGroups, sources);
  if (rootUsers.length + rootGroups.length === 0) {
    throw new ShoalError(
      "invalid",
      `invalid config: authorization: rbac: ${onPlace(sources)} is on, but neither ${SETTINGS.rbacRootUsers.variable} nor ` +
        `${SETTINGS.rbacRootGroups.variable} names anybody: nobody could give the first role`,
    );
  }
  if (rootUsers.includes("anonymous") || rootGroups.includes("anonymous")) {
    throw new ShoalError("invalid", "invalid config: authorization: rbac: anonymous cannot have the role root");
  }
  const both = rootGroups.find((group) => readOnlyGroups.includes(group));
  if (both !== undefined) {
    throw new ShoalError(
      "invalid",
      `invalid config: authorization: rbac: group '${both}' is among the root groups and the read-only groups`,
    );
  }
  refuseLockedOut(readOnlyGroups, authentication, sources, warn);
  warnOfNoRoot(rootUsers, authentication, sources, warn);
  warnOfGroups(SETTINGS.rbacRootGroups, rootGroups, authentication, sources, warn);
  warnOfGroups(SETTINGS.rbacReadOnlyGroups, readOnlyGroups, authentication, sources, warn);
  const staleSecondsMax = readSetting(SETTINGS.rbacStaleSecondsMax, sources);
  return { rootUsers, rootGroups, readOnlyGroups, staleSecondsMax };
}

/** Fails with `invalid` when nobody could ever do anything: nothing tells a user from anonymous, who has no role. */
function refuseLockedOut(
  readOnlyGroups: readonly string[],
  { apiKeys, oidc }: AuthenticationConfiguration,
  sources: readonly SettingSource[],
  warn: Warn,
): void {
  if (apiKeys !== undefined || oidc !== undefined) return;
  const { apiKeysEnabled, oidcEnabled } = AUTHENTICATION_SETTINGS;
  const neither = `neither ${apiKeysEnabled.variable} nor ${oidcEnabled.variable} is true`;
  if (readDatabaseUsers(sources)) {
    const users = placeOf(SETTINGS.databaseUsers, sources);
    warn(`${users} lets in users that were made before, and nobody can make the first one: ${neither}`);
  } else if (!readOnlyGroups.includes("anonymous")) {
    throw new ShoalError(
      "invalid",
      `invalid config: authorization: rbac: ${onPlace(sources)} is on, but ${neither}: everybody is anonymous, who has no role. ` +
        `Switch API keys or OpenID Connect on, or name anonymous in ${SETTINGS.rbacReadOnlyGroups.variable} to let everybody read`,
    );
  }
}

/** Nobody can give the first role, or make a user, where no root user has a key. A file of keys may bring one later. */
function warnOfNoRoot(
  rootUsers: readonly string[],
  { apiKeys, oidc }: AuthenticationConfiguration,
  sources: readonly SettingSource[],
  warn: Warn,
): void {
  if (apiKeys === undefined || apiKeys.file !== undefined || oidc !== undefined) return;
  if (apiKeys.allowed.some(({ username }) => rootUsers.includes(username))) return;
  const name = findValue(SETTINGS.rbacRootUsers, sources) === undefined ? "rbacRootUsersFormerly" : "rbacRootUsers";
  const { apiKeysUsers } = AUTHENTICATION_SETTINGS;
  warn(
    `${placeOf(SETTINGS[name], sources)} names nobody who has an API key: nobody can give roles or make users until ` +
      `one of them stands in ${apiKeysUsers.variable}, with a key`,
  );
}

/** Whether users can be made at run time. */
export function readDatabaseUsers(sources: readonly SettingSource[]): boolean {
  return readSetting(SETTINGS.databaseUsers, sources);
}

/** Without roles and without an admin list who gets in may do all, which is more than to have a key where keys can be made anew. */
export function warnOfEqualUsers(
  sources: readonly SettingSource[],
  { roles, authorization }: { readonly roles: unknown; readonly authorization: unknown },
  warn: Warn,
): void {
  if (!readDatabaseUsers(sources) || roles !== undefined || authorization !== undefined) return;
  const { adminListEnabled } = AUTHENTICATION_SETTINGS;
  warn(
    `${placeOf(SETTINGS.databaseUsers, sources)} is true without roles and without an admin list: whoever gets in may make and delete ` +
      "users, and act as any of them with a new key (rotate-key). Switch " +
      `${SETTINGS.rbacEnabled.variable} or ${adminListEnabled.variable} on, if not all of them are to be trusted alike`,
  );
}

function onPlace(sources: readonly SettingSource[]): string {
  const name = findValue(SETTINGS.rbacEnabled, sources) === undefined ? "rbacEnabledFormerly" : "rbacEnabled";
  return placeOf(SETTINGS[name], sources);
}

/** A setting under its name or its former one. Fails with `invalid` when they say different things. */
function readRenamed<Name extends "rbacEnabled" | "rbacRootUsers">(
  name: Name,
  formerName: `${Name}Formerly`,
  sources: readonly SettingSource[],
) {
  const [one, former] = [SETTINGS[name], SETTINGS[formerName]] as readonly Setting<unknown>[];
  if (one === undefined || former === undefined) throw new ShoalError("internal", `there is no setting '${name}'`);
  const [value, before] = [readSetting(one, sources), readSetting(former, sources)];
  if (value !== undefined && before !== undefined && String(value) !== String(before)) {
    throw new ShoalError(
      "invalid",
      `${placeOf(one, sources)} and ${placeOf(former, sources)}, its former name, say different things`,
    );
  }
  return (value ?? before) as (typeof SETTINGS)[Name]["fallback"];
}
