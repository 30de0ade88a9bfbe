import { allowedApiKey, refusedKeys, refuseSharedKeys, warnOfShortKeys } from "./api-keys.js";
import type {
  AdminListConfiguration,
  ApiKeyConfiguration,
  AuthenticationConfiguration,
  OidcConfiguration,
} from "./authentication.js";
import { isLoopback } from "./loopback.js";
import { refused, type Setting, type SettingsReader } from "./setting.js";
import { AUTHENTICATION_SETTINGS as SETTINGS } from "./settings/authentication.js";
import { ROLE_SETTINGS } from "./settings/roles.js";

/**
 * Who gets in. Nothing set: everybody, as decisions.md settles. API keys, users made at run time or OpenID
 * Connect alone: only who has a key or a token, as whoever sets one up means to keep others out. Fails with `invalid`, in the words of the reference
 * (reference-rest 7.1, reference-today 1.6), when nobody could get in or a scheme is not fully set.
 */
export function readAuthentication(settings: SettingsReader): AuthenticationConfiguration {
  const required = settings.read(SETTINGS.requiresAuthentication);
  const anonymous = settings.read(SETTINGS.anonymousAccess);
  const withKeys = settings.read(SETTINGS.apiKeysEnabled);
  const withOidc = settings.read(SETTINGS.oidcEnabled) ?? (required && !withKeys);
  const hasScheme = withKeys || withOidc || settings.read(ROLE_SETTINGS.databaseUsers);
  if (required && !hasScheme) {
    throw refused(
      `${settings.placeOf(SETTINGS.requiresAuthentication)} is true and demands OpenID Connect or API keys, but ` +
        `${settings.placeOf(SETTINGS.oidcEnabled)} is false and ${SETTINGS.apiKeysEnabled.variable} is not true`,
    );
  }
  if (required && anonymous === true) {
    settings.warn(
      `${settings.placeOf(SETTINGS.anonymousAccess)} is true but has no effect: ${settings.placeOf(SETTINGS.requiresAuthentication)} switches anonymous access off`,
    );
  }
  const apiKeys = withKeys ? readApiKeys(settings, withOidc) : undefined;
  const oidc = withOidc ? readOidc(settings) : undefined;
  const anonymousAccess = required ? false : (anonymous ?? !hasScheme);
  if (!anonymousAccess && !hasScheme) {
    throw refused(
      "invalid config: no authentication scheme configured, you must select at least one: " +
        `${settings.placeOf(SETTINGS.anonymousAccess)} is false and neither ${SETTINGS.apiKeysEnabled.variable} nor ${SETTINGS.oidcEnabled.variable} is true`,
    );
  }
  return { anonymousAccess, apiKeys, oidc };
}

/** Fails in the words of the reference where it has some (reference-today 1.6), and never with a key in them. */
function readApiKeys(settings: SettingsReader, besideIssuer: boolean): ApiKeyConfiguration {
  const keys = settings.read(SETTINGS.apiKeysAllowed);
  const users = settings.read(SETTINGS.apiKeysUsers);
  const file = settings.read(SETTINGS.apiKeysFile) || undefined;
  const [keysPlace, usersPlace] = [settings.placeOf(SETTINGS.apiKeysAllowed), settings.placeOf(SETTINGS.apiKeysUsers)];
  if (keys.length === 0 && file === undefined) {
    throw refusedKeys(
      "need at least one valid allowed key",
      `${settings.placeOf(SETTINGS.apiKeysEnabled)} is true: set ${SETTINGS.apiKeysAllowed.variable} or ${SETTINGS.apiKeysFile.variable}`,
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
  warnOfShortKeys(placed, keysPlace, settings.warn);
  return { allowed, file, soleUser, besideIssuer };
}

function readOidc(settings: SettingsReader): OidcConfiguration {
  const issuer = settings.read(SETTINGS.oidcIssuer);
  const usernameClaim = settings.read(SETTINGS.oidcUsernameClaim);
  const clientId = settings.read(SETTINGS.oidcClientId);
  const skipClientIdCheck = settings.read(SETTINGS.oidcSkipClientIdCheck);
  const groupsClaim = settings.read(SETTINGS.oidcGroupsClaim);
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
    const isNamed = settings.find(SETTINGS.oidcEnabled) !== undefined;
    const asked = settings.placeOf(SETTINGS[isNamed ? "oidcEnabled" : "requiresAuthentication"]);
    throw refused(`oidc init: invalid config: ${missing.join(", ")} (${asked} is true)`);
  }
  const keysUrl = settings.read(SETTINGS.oidcKeysUrl);
  warnOfHttp("oidcIssuer", issuer, settings);
  if (keysUrl !== undefined) warnOfHttp("oidcKeysUrl", keysUrl, settings);
  const scopes = settings.read(SETTINGS.oidcScopes);
  return { issuer, clientId, skipClientIdCheck, usernameClaim, groupsClaim, scopes, keysUrl };
}

/** Not refused: issuers inside a cluster or a compose network are often reached without TLS. */
function warnOfHttp(name: "oidcIssuer" | "oidcKeysUrl", url: string, settings: SettingsReader): void {
  const { protocol, hostname } = new URL(url);
  if (protocol !== "http:" || isLoopback(hostname)) return;
  settings.warn(
    `${settings.placeOf(SETTINGS[name])} is ${url}: over http anybody on the way can forge the keys that tokens are checked with; use https`,
  );
}

/**
 * The admin list, or undefined: everybody who gets in may do everything. Only readers, and no admin, is a way to serve
 * data that nobody shall change; lists without anybody are a server without use and are refused (by the reference too, as
 * an overlap in the user ''), and so are lists without `anonymous` where nothing tells a user from him.
 */
export function readAuthorization(
  settings: SettingsReader,
  authentication: AuthenticationConfiguration,
): AdminListConfiguration | undefined {
  if (!settings.read(SETTINGS.adminListEnabled)) return undefined;
  const users = settings.read(SETTINGS.adminListUsers);
  const readOnlyUsers = settings.read(SETTINGS.adminListReadOnlyUsers);
  const groups = settings.read(SETTINGS.adminListGroups);
  const readOnlyGroups = settings.read(SETTINGS.adminListReadOnlyGroups);
  if (users.length + readOnlyUsers.length + groups.length + readOnlyGroups.length === 0) {
    const variables = LISTS.map(({ variable }) => variable).join(", ");
    throw refused(
      `invalid config: authorization: admin list: ${settings.placeOf(SETTINGS.adminListEnabled)} is on, but none of ${variables} names anybody`,
    );
  }
  refuseOnBoth("subject", users, readOnlyUsers);
  refuseOnBoth("group", groups, readOnlyGroups);
  const { apiKeys, oidc } = authentication;
  const isAnonymousListed = [users, readOnlyUsers, groups, readOnlyGroups].some((list) => list.includes("anonymous"));
  const hasScheme = apiKeys !== undefined || oidc !== undefined || settings.read(ROLE_SETTINGS.databaseUsers);
  if (!hasScheme && !isAnonymousListed) {
    throw refused(
      `invalid config: authorization: admin list: ${settings.placeOf(SETTINGS.adminListEnabled)} is on, but neither ` +
        `${SETTINGS.apiKeysEnabled.variable} nor ${SETTINGS.oidcEnabled.variable} is true: everybody is anonymous, who is on no list. ` +
        `Switch API keys or OpenID Connect on, or name anonymous in ${SETTINGS.adminListReadOnlyUsers.variable} to let everybody read`,
    );
  }
  warnOfAbsent(SETTINGS.adminListUsers, users, authentication, settings);
  warnOfAbsent(SETTINGS.adminListReadOnlyUsers, readOnlyUsers, authentication, settings);
  warnOfGroups(SETTINGS.adminListGroups, groups, authentication, settings);
  warnOfGroups(SETTINGS.adminListReadOnlyGroups, readOnlyGroups, authentication, settings);
  return { users, readOnlyUsers, groups, readOnlyGroups };
}

/** Says of a list which of its users cannot get in: they have no key, a file brings none, nobody makes users and no token is accepted. */
function warnOfAbsent(
  list: Setting<readonly string[]>,
  users: readonly string[],
  { anonymousAccess, apiKeys, oidc }: AuthenticationConfiguration,
  settings: SettingsReader,
): void {
  const mayCome = apiKeys?.file !== undefined || oidc !== undefined || settings.read(ROLE_SETTINGS.databaseUsers);
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
  settings.warn(
    `${settings.placeOf(list)} names ${whole}: ${named}${more} ${absent.length === 1 ? "has" : "have"} no API key ` +
      `(${SETTINGS.apiKeysUsers.variable}), and no tokens are accepted (${SETTINGS.oidcEnabled.variable})`,
  );
}

const NAMED_MAX = 5;

/** Says of a setting that names groups that nobody is in any of them, as only tokens have groups. */
export function warnOfGroups(
  setting: Setting<readonly string[]>,
  groups: readonly string[],
  { oidc }: AuthenticationConfiguration,
  settings: SettingsReader,
): void {
  if (oidc?.groupsClaim !== undefined || groups.every((group) => group === "anonymous")) return;
  const needed = oidc === undefined ? SETTINGS.oidcEnabled : SETTINGS.oidcGroupsClaim;
  settings.warn(
    `${settings.placeOf(setting)} names groups, which come with tokens, but nobody is in one: ${needed.variable} is not set`,
  );
}

const LISTS = [
  SETTINGS.adminListUsers,
  SETTINGS.adminListReadOnlyUsers,
  SETTINGS.adminListGroups,
  SETTINGS.adminListReadOnlyGroups,
];

function refuseOnBoth(kind: "subject" | "group", admins: readonly string[], readers: readonly string[]): void {
  const reading = new Set(readers);
  const both = admins.find((name) => reading.has(name));
  if (both === undefined) return;
  throw refused(
    `invalid config: authorization: admin list: ${kind} '${both}' is present on both admin and read-only list`,
  );
}
