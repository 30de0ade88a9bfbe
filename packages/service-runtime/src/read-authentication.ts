import { ShoalError } from "@shoal/model";
import { allowedApiKey, refusedKeys, refuseSharedKeys, warnOfShortKeys } from "./api-keys.js";
import type {
  AdminListConfiguration,
  ApiKeyConfiguration,
  AuthenticationConfiguration,
  OidcConfiguration,
} from "./authentication.js";
import { isLoopback } from "./loopback.js";
import { findValue, placeOf, readSetting, type Setting, type SettingSource } from "./setting.js";
import { AUTHENTICATION_SETTINGS as SETTINGS } from "./settings/authentication.js";
import { ROLE_SETTINGS } from "./settings/roles.js";

/** Told about what is accepted although it is probably not meant; one line. */
export type Warn = (message: string) => void;

/**
 * Who gets in. Nothing set: everybody, as decisions.md settles. API keys, users made at run time or OpenID
 * Connect alone: only who has a key or a token, as whoever sets one up means to keep others out. Fails with `invalid`, in the words of the reference
 * (reference-rest 7.1, reference-today 1.6), when nobody could get in or a scheme is not fully set.
 */
export function readAuthentication(sources: readonly SettingSource[], warn: Warn): AuthenticationConfiguration {
  const required = readSetting(SETTINGS.requiresAuthentication, sources);
  const anonymous = readSetting(SETTINGS.anonymousAccess, sources);
  const withKeys = readSetting(SETTINGS.apiKeysEnabled, sources);
  const withOidc = readSetting(SETTINGS.oidcEnabled, sources) ?? (required && !withKeys);
  const hasScheme = withKeys || withOidc || readSetting(ROLE_SETTINGS.databaseUsers, sources);
  if (required && !hasScheme) {
    throw new ShoalError(
      "invalid",
      `${place("requiresAuthentication", sources)} is true and demands OpenID Connect or API keys, but ` +
        `${place("oidcEnabled", sources)} is false and ${SETTINGS.apiKeysEnabled.variable} is not true`,
    );
  }
  if (required && anonymous === true) {
    warn(
      `${place("anonymousAccess", sources)} is true but has no effect: ${place("requiresAuthentication", sources)} switches anonymous access off`,
    );
  }
  const apiKeys = withKeys ? readApiKeys(sources, withOidc, warn) : undefined;
  const oidc = withOidc ? readOidc(sources, warn) : undefined;
  const anonymousAccess = required ? false : (anonymous ?? !hasScheme);
  if (!anonymousAccess && !hasScheme) {
    throw new ShoalError(
      "invalid",
      "invalid config: no authentication scheme configured, you must select at least one: " +
        `${place("anonymousAccess", sources)} is false and neither ${SETTINGS.apiKeysEnabled.variable} nor ${SETTINGS.oidcEnabled.variable} is true`,
    );
  }
  return { anonymousAccess, apiKeys, oidc };
}

/** Fails in the words of the reference where it has some (reference-today 1.6), and never with a key in them. */
function readApiKeys(sources: readonly SettingSource[], besideIssuer: boolean, warn: Warn): ApiKeyConfiguration {
  const keys = readSetting(SETTINGS.apiKeysAllowed, sources);
  const users = readSetting(SETTINGS.apiKeysUsers, sources);
  const file = readSetting(SETTINGS.apiKeysFile, sources) || undefined;
  const [keysPlace, usersPlace] = [place("apiKeysAllowed", sources), place("apiKeysUsers", sources)];
  if (keys.length === 0 && file === undefined) {
    throw refusedKeys(
      "need at least one valid allowed key",
      `${place("apiKeysEnabled", sources)} is true: set ${SETTINGS.apiKeysAllowed.variable} or ${SETTINGS.apiKeysFile.variable}`,
    );
  }
  if (keys.length > 0 && users.length === 0) throw refusedKeys("need at least one user", usersPlace);
  if (users.length > 1 && users.length !== keys.length) {
    throw refusedKeys(
      "length of users and keys must match, alternatively provide single user for all keys",
      `${usersPlace} has ${users.length}, ${keysPlace} ${keys.length}`,
    );
  }
  const soleUser = users.length === 1 ? users[0] : undefined;
  const allowed = keys.map((key, at) =>
    allowedApiKey(soleUser ?? users[at] ?? "", key, `${keysPlace}, key ${at + 1}; ${usersPlace}`, besideIssuer),
  );
  refuseSharedKeys(allowed, keysPlace);
  const placed = keys.map((key, at) => ({ key, username: soleUser ?? users[at] ?? "", at: `key ${at + 1}` }));
  warnOfShortKeys(placed, keysPlace, warn);
  return { allowed, file, soleUser, besideIssuer };
}

function readOidc(sources: readonly SettingSource[], warn: Warn): OidcConfiguration {
  const issuer = readSetting(SETTINGS.oidcIssuer, sources);
  const usernameClaim = readSetting(SETTINGS.oidcUsernameClaim, sources);
  const clientId = readSetting(SETTINGS.oidcClientId, sources);
  const skipClientIdCheck = readSetting(SETTINGS.oidcSkipClientIdCheck, sources);
  const groupsClaim = readSetting(SETTINGS.oidcGroupsClaim, sources);
  const missing = [
    ...(issuer === undefined ? ["missing required field 'issuer'"] : []),
    ...(usernameClaim === undefined ? ["missing required field 'username_claim'"] : []),
    ...(clientId === undefined && !skipClientIdCheck
      ? [
          "missing required field 'client_id': either set a client_id or explicitly disable the check with 'skip_client_id_check: true'",
        ]
      : []),
  ];
  if (issuer === undefined || usernameClaim === undefined || missing.length > 0) {
    const isNamed = findValue(SETTINGS.oidcEnabled, sources) !== undefined;
    const asked = place(isNamed ? "oidcEnabled" : "requiresAuthentication", sources);
    throw new ShoalError("invalid", `oidc init: invalid config: ${missing.join(", ")} (${asked} is true)`);
  }
  const keysUrl = readSetting(SETTINGS.oidcKeysUrl, sources);
  warnOfHttp("oidcIssuer", issuer, sources, warn);
  if (keysUrl !== undefined) warnOfHttp("oidcKeysUrl", keysUrl, sources, warn);
  const scopes = readSetting(SETTINGS.oidcScopes, sources);
  return { issuer, clientId, skipClientIdCheck, usernameClaim, groupsClaim, scopes, keysUrl };
}

/** Not refused: issuers inside a cluster or a compose network are often reached without TLS. */
function warnOfHttp(
  name: "oidcIssuer" | "oidcKeysUrl",
  url: string,
  sources: readonly SettingSource[],
  warn: Warn,
): void {
  const { protocol, hostname } = new URL(url);
  if (protocol !== "http:" || isLoopback(hostname)) return;
  warn(
    `${place(name, sources)} is ${url}: over http anybody on the way can forge the keys that tokens are checked with; use https`,
  );
}

/**
 * The admin list, or undefined: everybody who gets in may do everything. Only readers, and no admin, is a way to serve
 * data that nobody shall change; lists without anybody are a server without use and are refused (by the reference too, as
 * an overlap in the user ''), and so are lists without `anonymous` where nothing tells a user from him.
 */
export function readAuthorization(
  sources: readonly SettingSource[],
  authentication: AuthenticationConfiguration,
  warn: Warn,
): AdminListConfiguration | undefined {
  if (!readSetting(SETTINGS.adminListEnabled, sources)) return undefined;
  const users = readSetting(SETTINGS.adminListUsers, sources);
  const readOnlyUsers = readSetting(SETTINGS.adminListReadOnlyUsers, sources);
  const groups = readSetting(SETTINGS.adminListGroups, sources);
  const readOnlyGroups = readSetting(SETTINGS.adminListReadOnlyGroups, sources);
  if (users.length + readOnlyUsers.length + groups.length + readOnlyGroups.length === 0) {
    const variables = LISTS.map((name) => SETTINGS[name].variable).join(", ");
    throw new ShoalError(
      "invalid",
      `invalid config: authorization: admin list: ${place("adminListEnabled", sources)} is on, but none of ${variables} names anybody`,
    );
  }
  refuseOnBoth("subject", users, readOnlyUsers);
  refuseOnBoth("group", groups, readOnlyGroups);
  const { apiKeys, oidc } = authentication;
  const isAnonymousListed = [users, readOnlyUsers, groups, readOnlyGroups].some((list) => list.includes("anonymous"));
  const hasScheme = apiKeys !== undefined || oidc !== undefined || readSetting(ROLE_SETTINGS.databaseUsers, sources);
  if (!hasScheme && !isAnonymousListed) {
    throw new ShoalError(
      "invalid",
      `invalid config: authorization: admin list: ${place("adminListEnabled", sources)} is on, but neither ` +
        `${SETTINGS.apiKeysEnabled.variable} nor ${SETTINGS.oidcEnabled.variable} is true: everybody is anonymous, who is on no list. ` +
        `Switch API keys or OpenID Connect on, or name anonymous in ${SETTINGS.adminListReadOnlyUsers.variable} to let everybody read`,
    );
  }
  warnOfAbsent(SETTINGS.adminListUsers, users, authentication, sources, warn);
  warnOfAbsent(SETTINGS.adminListReadOnlyUsers, readOnlyUsers, authentication, sources, warn);
  warnOfGroups(SETTINGS.adminListGroups, groups, authentication, sources, warn);
  warnOfGroups(SETTINGS.adminListReadOnlyGroups, readOnlyGroups, authentication, sources, warn);
  return { users, readOnlyUsers, groups, readOnlyGroups };
}

/** Says of a list which of its users cannot get in: they have no key, a file brings none, nobody makes users and no token is accepted. */
function warnOfAbsent(
  list: Setting<readonly string[]>,
  users: readonly string[],
  { anonymousAccess, apiKeys, oidc }: AuthenticationConfiguration,
  sources: readonly SettingSource[],
  warn: Warn,
): void {
  const mayCome =
    apiKeys?.file !== undefined || oidc !== undefined || readSetting(ROLE_SETTINGS.databaseUsers, sources);
  if (mayCome) return;
  const known = new Set(apiKeys?.allowed.map(({ username }) => username));
  if (anonymousAccess) known.add("anonymous");
  const absent = users.filter((user) => !known.has(user));
  if (absent.length === 0) return;
  const named = absent
    .slice(0, NAMED_MAX)
    .map((user) => JSON.stringify(user))
    .join(", ");
  const more = absent.length > NAMED_MAX ? ` and ${absent.length - NAMED_MAX} more` : "";
  const whole = absent.length === users.length ? "nobody who can get in" : "some who cannot get in";
  warn(
    `${placeOf(list, sources)} names ${whole}: ${named}${more} ${absent.length === 1 ? "has" : "have"} no API key ` +
      `(${SETTINGS.apiKeysUsers.variable}), and no tokens are accepted (${SETTINGS.oidcEnabled.variable})`,
  );
}

const NAMED_MAX = 5;

/** Says of a setting that names groups that nobody is in any of them, as only tokens have groups. */
export function warnOfGroups(
  setting: Setting<readonly string[]>,
  groups: readonly string[],
  { oidc }: AuthenticationConfiguration,
  sources: readonly SettingSource[],
  warn: Warn,
): void {
  if (oidc?.groupsClaim !== undefined || groups.every((group) => group === "anonymous")) return;
  const needed = oidc === undefined ? SETTINGS.oidcEnabled : SETTINGS.oidcGroupsClaim;
  warn(
    `${placeOf(setting, sources)} names groups, which come with tokens, but nobody is in one: ${needed.variable} is not set`,
  );
}

const LISTS = ["adminListUsers", "adminListReadOnlyUsers", "adminListGroups", "adminListReadOnlyGroups"] as const;

function refuseOnBoth(kind: "subject" | "group", admins: readonly string[], readers: readonly string[]): void {
  const reading = new Set(readers);
  const both = admins.find((name) => reading.has(name));
  if (both === undefined) return;
  throw new ShoalError(
    "invalid",
    `invalid config: authorization: admin list: ${kind} '${both}' is present on both admin and read-only list`,
  );
}

function place(name: keyof typeof SETTINGS, sources: readonly SettingSource[]): string {
  return placeOf(SETTINGS[name], sources);
}
