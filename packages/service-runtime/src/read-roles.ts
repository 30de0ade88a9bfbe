import { ShoalError } from "@shoal/model";
import type { AuthenticationConfiguration } from "./authentication.js";
import { warnOfGroups } from "./read-authentication.js";
import { refused, type Setting, type SettingsReader } from "./setting.js";
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
  settings: SettingsReader,
  authentication: AuthenticationConfiguration,
): RolesConfiguration | undefined {
  const isOn = readRenamed("rbacEnabled", "rbacEnabledFormerly", settings) ?? false;
  if (!isOn) return undefined;
  if (settings.read(AUTHENTICATION_SETTINGS.adminListEnabled)) {
    const list = settings.placeOf(AUTHENTICATION_SETTINGS.adminListEnabled);
    throw refused(
      `invalid config: authorization: ${onPlace(settings)} and ${list} exclude each other: use roles or the admin list`,
    );
  }
  const rootUsers = readRenamed("rbacRootUsers", "rbacRootUsersFormerly", settings) ?? [];
  const rootGroups = settings.read(SETTINGS.rbacRootGroups);
  const readOnlyGroups = settings.read(SETTINGS.rbacReadOnlyGroups);
  if (rootUsers.length + rootGroups.length === 0) {
    throw refused(
      `invalid config: authorization: rbac: ${onPlace(settings)} is on, but neither ${SETTINGS.rbacRootUsers.variable} nor ` +
        `${SETTINGS.rbacRootGroups.variable} names anybody: nobody could give the first role`,
    );
  }
  if (rootUsers.includes("anonymous") || rootGroups.includes("anonymous")) {
    throw refused("invalid config: authorization: rbac: anonymous cannot have the role root");
  }
  const both = rootGroups.find((group) => readOnlyGroups.includes(group));
  if (both !== undefined) {
    throw refused(
      `invalid config: authorization: rbac: group '${both}' is among the root groups and the read-only groups`,
    );
  }
  refuseLockedOut(readOnlyGroups, authentication, settings);
  warnOfNoRoot(rootUsers, authentication, settings);
  warnOfGroups(SETTINGS.rbacRootGroups, rootGroups, authentication, settings);
  warnOfGroups(SETTINGS.rbacReadOnlyGroups, readOnlyGroups, authentication, settings);
  const staleSecondsMax = settings.read(SETTINGS.rbacStaleSecondsMax);
  return { rootUsers, rootGroups, readOnlyGroups, staleSecondsMax };
}

/** Fails with `invalid` when nobody could ever do anything: nothing tells a user from anonymous, who has no role. */
function refuseLockedOut(
  readOnlyGroups: readonly string[],
  { apiKeys, oidc }: AuthenticationConfiguration,
  settings: SettingsReader,
): void {
  if (apiKeys !== undefined || oidc !== undefined) return;
  const { apiKeysEnabled, oidcEnabled } = AUTHENTICATION_SETTINGS;
  const neither = `neither ${apiKeysEnabled.variable} nor ${oidcEnabled.variable} is true`;
  if (settings.read(SETTINGS.databaseUsers)) {
    const users = settings.placeOf(SETTINGS.databaseUsers);
    settings.warn(`${users} lets in users that were made before, and nobody can make the first one: ${neither}`);
  } else if (!readOnlyGroups.includes("anonymous")) {
    throw refused(
      `invalid config: authorization: rbac: ${onPlace(settings)} is on, but ${neither}: everybody is anonymous, who has no role. ` +
        `Switch API keys or OpenID Connect on, or name anonymous in ${SETTINGS.rbacReadOnlyGroups.variable} to let everybody read`,
    );
  }
}

/** Nobody can give the first role, or make a user, where no root user has a key. A file of keys may bring one later. */
function warnOfNoRoot(
  rootUsers: readonly string[],
  { apiKeys, oidc }: AuthenticationConfiguration,
  settings: SettingsReader,
): void {
  if (apiKeys === undefined || apiKeys.file !== undefined || oidc !== undefined) return;
  if (apiKeys.allowed.some(({ username }) => rootUsers.includes(username))) return;
  const name = settings.find(SETTINGS.rbacRootUsers) === undefined ? "rbacRootUsersFormerly" : "rbacRootUsers";
  const { apiKeysUsers } = AUTHENTICATION_SETTINGS;
  settings.warn(
    `${settings.placeOf(SETTINGS[name])} names nobody who has an API key: nobody can give roles or make users until ` +
      `one of them stands in ${apiKeysUsers.variable}, with a key`,
  );
}

/** Without roles and without an admin list who gets in may do all, which is more than to have a key where keys can be made again. */
export function warnOfEqualUsers(
  settings: SettingsReader,
  { roles, authorization }: { readonly roles: unknown; readonly authorization: unknown },
): void {
  if (!settings.read(SETTINGS.databaseUsers) || roles !== undefined || authorization !== undefined) return;
  const { adminListEnabled } = AUTHENTICATION_SETTINGS;
  settings.warn(
    `${settings.placeOf(SETTINGS.databaseUsers)} is true without roles and without an admin list: whoever gets in may make and delete ` +
      "users, and act as any of them with a new key (rotate-key). Switch " +
      `${SETTINGS.rbacEnabled.variable} or ${adminListEnabled.variable} on, if not all of them are to be trusted alike`,
  );
}

function onPlace(settings: SettingsReader): string {
  const name = settings.find(SETTINGS.rbacEnabled) === undefined ? "rbacEnabledFormerly" : "rbacEnabled";
  return settings.placeOf(SETTINGS[name]);
}

/** A setting under its name or its former one. Fails with `invalid` when they say different things. */
function readRenamed<Name extends "rbacEnabled" | "rbacRootUsers">(
  name: Name,
  formerName: `${Name}Formerly`,
  settings: SettingsReader,
) {
  const [one, former] = [SETTINGS[name], SETTINGS[formerName]] as readonly Setting<unknown>[];
  if (one === undefined || former === undefined) throw new ShoalError("internal", `there is no setting '${name}'`);
  const [value, before] = [settings.read(one), settings.read(former)];
  if (value !== undefined && before !== undefined && String(value) !== String(before)) {
    throw refused(`${settings.placeOf(one)} and ${settings.placeOf(former)}, its former name, say different things`);
  }
  return (value ?? before) as (typeof SETTINGS)[Name]["fallback"];
}
