import { ShoalError } from "@shoal/model";
import type { AdminListConfiguration, AuthenticationConfiguration, OidcConfiguration } from "./authentication.js";
import { isLoopback } from "./loopback.js";
import { findValue, placeOf, readSetting, type SettingSource } from "./setting.js";
import { AUTHENTICATION_SETTINGS as SETTINGS } from "./settings/authentication.js";

/** Told about what is accepted although it is probably not meant; one line. */
export type Warn = (message: string) => void;

/**
 * Who gets in. Nothing set: everybody, as decisions.md settles. OpenID Connect alone: only bearers of a token, as whoever
 * sets it up means to keep others out; the reference demands that anonymous access is named. Fails with `invalid`, in the
 * words of the reference (reference-rest 7.1), when nobody could get in or OpenID Connect is not fully set.
 */
export function readAuthentication(sources: readonly SettingSource[], warn: Warn): AuthenticationConfiguration {
  const required = readSetting(SETTINGS.requiresAuthentication, sources);
  const anonymous = readSetting(SETTINGS.anonymousAccess, sources);
  const withOidc = readSetting(SETTINGS.oidcEnabled, sources) ?? required;
  if (required && !withOidc) {
    throw new ShoalError(
      "invalid",
      `${place("requiresAuthentication", sources)} is true and demands OpenID Connect, but ${place("oidcEnabled", sources)} is false`,
    );
  }
  if (required && anonymous === true) {
    warn(
      `${place("anonymousAccess", sources)} is true but has no effect: ${place("requiresAuthentication", sources)} switches anonymous access off`,
    );
  }
  const oidc = withOidc ? readOidc(sources, warn) : undefined;
  if (!withOidc)
    warnOfUnused(OIDC_DETAILS, "authentication by OpenID Connect is off (authentication.oidc.enabled)", sources, warn);
  const anonymousAccess = required ? false : (anonymous ?? !withOidc);
  if (!anonymousAccess && oidc === undefined) {
    throw new ShoalError(
      "invalid",
      `invalid config: no authentication scheme configured, you must select at least one: ${place("anonymousAccess", sources)} is false and ${SETTINGS.oidcEnabled.variable} is not true`,
    );
  }
  return { anonymousAccess, oidc };
}

const OIDC_DETAILS = [
  "oidcIssuer",
  "oidcClientId",
  "oidcSkipClientIdCheck",
  "oidcUsernameClaim",
  "oidcGroupsClaim",
] as const;

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
  const { protocol, hostname } = new URL(issuer);
  if (protocol === "http:" && !isLoopback(hostname)) {
    // Not refused: issuers inside a cluster or a compose network are often reached without TLS.
    warn(
      `${place("oidcIssuer", sources)} is ${issuer}: over http anybody on the way can forge the keys that tokens are checked with; use https`,
    );
  }
  return { issuer, clientId, skipClientIdCheck, usernameClaim, groupsClaim };
}

/**
 * The admin list, or undefined: everybody who gets in may do everything. Only readers, and no admin, is a way to serve
 * data that nobody shall change; a list without anybody is a server without use and is refused (by the reference too, as
 * an overlap in the user '').
 */
export function readAuthorization(sources: readonly SettingSource[], warn: Warn): AdminListConfiguration | undefined {
  if (!readSetting(SETTINGS.adminListEnabled, sources)) {
    warnOfUnused(
      ["adminListUsers", "adminListReadOnlyUsers"],
      "the admin list is off (authorization.admin_list.enabled)",
      sources,
      warn,
    );
    return undefined;
  }
  const users = readSetting(SETTINGS.adminListUsers, sources);
  const readOnlyUsers = readSetting(SETTINGS.adminListReadOnlyUsers, sources);
  if (users.length + readOnlyUsers.length === 0) {
    throw new ShoalError(
      "invalid",
      `invalid config: authorization: admin list: ${place("adminListEnabled", sources)} is on, but neither ${SETTINGS.adminListUsers.variable} nor ${SETTINGS.adminListReadOnlyUsers.variable} names a user`,
    );
  }
  const readers = new Set(readOnlyUsers);
  const both = users.find((user) => readers.has(user));
  if (both !== undefined) {
    throw new ShoalError(
      "invalid",
      `invalid config: authorization: admin list: subject '${both}' is present on both admin and read-only list`,
    );
  }
  return { users, readOnlyUsers };
}

function place(name: keyof typeof SETTINGS, sources: readonly SettingSource[]): string {
  return placeOf(SETTINGS[name], sources);
}

function warnOfUnused(
  names: readonly (keyof typeof SETTINGS)[],
  reason: string,
  sources: readonly SettingSource[],
  warn: Warn,
): void {
  for (const name of names) {
    const found = findValue(SETTINGS[name], sources);
    if (found !== undefined) warn(`${found.place} is set but has no effect: ${reason}`);
  }
}
