import type { OidcConfiguration } from "@shoal/service-runtime";
import type { Principal } from "./access.js";
import { type JsonMembers, type JsonWebToken, memberOf, refusedToken } from "./json-web-token.js";
import { isSignatureAlgorithm, SIGNATURE_ALGORITHMS, type SignatureAlgorithm } from "./signature-algorithms.js";

/**
 * How far the issuer's clock may be ahead of ours: many issuers set `nbf` to the moment of issue, and a fresh token must
 * not be refused. `exp` has no such tolerance: at its end a token is old in any case.
 */
export const NOT_BEFORE_TOLERANCE_SECONDS = 5;

/** What of a token's header is used. Nothing in it that points to a key elsewhere (`jku`, `x5u`, `jwk`, `x5c`) is. */
export interface TokenHeader {
  readonly algorithm: SignatureAlgorithm;
  readonly keyId: string | undefined;
}

/**
 * Everything about a token but its signature, in the order of the reference (reference-rest 7.3), in words of our own, and besides: `exp` is
 * demanded, `nbf` counts, `crit` is refused. Fails with `unauthenticated`.
 */
export function checkToken({ header, claims }: JsonWebToken, oidc: OidcConfiguration, nowMs: number): TokenHeader {
  const issuer = memberOf(claims, "iss");
  if (issuer !== oidc.issuer) {
    throw refusedToken(
      `it is of issuer ${shown(issuer)} (claim 'iss'), this server takes tokens of ${shown(oidc.issuer)}`,
    );
  }
  if (!oidc.skipClientIdCheck) checkAudience(memberOf(claims, "aud"), oidc.clientId);
  checkTimes(claims, nowMs);
  return checkHeader(header);
}

/** Who a token whose signature is good speaks for. Fails with `unauthenticated`. */
export function principalOf(claims: JsonMembers, oidc: OidcConfiguration): Principal {
  const { usernameClaim, groupsClaim } = oidc;
  const username = memberOf(claims, usernameClaim);
  if (username === undefined) {
    throw refusedToken(`it has no claim '${usernameClaim}', which this server takes the user's name from`);
  }
  if (typeof username !== "string") {
    throw refusedToken(`claim '${usernameClaim}', the user's name, must be a text, got ${kindOf(username)}`);
  }
  if (username === "") throw refusedToken(`claim '${usernameClaim}', the user's name, is empty`);
  if (usernameClaim === "email") refuseUnverified(memberOf(claims, "email_verified"));
  const groups = groupsClaim === undefined ? undefined : memberOf(claims, groupsClaim);
  const names = Array.isArray(groups) ? groups.filter((group) => typeof group === "string") : [];
  return { username, groups: names, userType: "oidc" };
}

/**
 * An address that nobody has verified is whatever its owner has typed: he could be anybody. An issuer that says nothing
 * does not vouch for it either. Some write the claim as a text.
 */
function refuseUnverified(verified: unknown): void {
  if (verified === true || verified === "true") return;
  const got = verified === undefined ? "and the token has none" : `got ${shown(verified)}`;
  throw refusedToken(
    `users are known here by their email, which their issuer must have verified: claim 'email_verified' must be true, ${got}`,
  );
}

/** When the token ends, in milliseconds since 1970. Only for tokens that `checkToken` let pass. */
export function expiryMs(claims: JsonMembers): number {
  return (memberOf(claims, "exp") as number) * 1000;
}

function checkAudience(audience: unknown, clientId: string | undefined): void {
  const audiences = Array.isArray(audience) ? audience : [audience];
  if (clientId !== undefined && audiences.includes(clientId)) return;
  const got = audience === undefined ? [] : audiences;
  throw refusedToken(
    `it is for ${shown(got)} (claim 'aud'), which must have this server's client id ${shown(clientId)}`,
  );
}

function checkTimes(claims: JsonMembers, nowMs: number): void {
  const expiry = memberOf(claims, "exp");
  if (expiry === undefined) throw refusedToken("it has no end (claim 'exp'), which is required");
  if (typeof expiry !== "number") throw refusedToken(`claim 'exp' must be a number, got ${kindOf(expiry)}`);
  if (!(nowMs < expiry * 1000)) throw refusedToken(`it has expired at ${moment(expiry)}: get a new one`);
  const notBefore = memberOf(claims, "nbf");
  if (notBefore === undefined) return;
  if (typeof notBefore !== "number") throw refusedToken(`claim 'nbf' must be a number, got ${kindOf(notBefore)}`);
  if (notBefore * 1000 > nowMs + NOT_BEFORE_TOLERANCE_SECONDS * 1000) {
    throw refusedToken(`it is not valid before ${moment(notBefore)} (claim 'nbf')`);
  }
}

/** Tokens for access and for identity; those for other ends (logout, security events) name other types. */
const TYPES = /^(?:application\/)?(?:jwt|at\+jwt)$/i;

function checkHeader(header: JsonMembers): TokenHeader {
  const algorithm = memberOf(header, "alg");
  if (!isSignatureAlgorithm(algorithm)) {
    throw refusedToken(
      `it is signed with ${shown(algorithm)} (header 'alg'), this server takes ${SIGNATURE_ALGORITHMS.join(", ")}`,
    );
  }
  const type = memberOf(header, "typ");
  if (type !== undefined && !(typeof type === "string" && TYPES.test(type))) {
    throw refusedToken(`it is of type ${shown(type)} (header 'typ'), this server takes JWT and at+jwt`);
  }
  if (memberOf(header, "crit") !== undefined) {
    throw refusedToken("it demands extensions that this server does not have (header 'crit')");
  }
  const keyId = memberOf(header, "kid");
  if (keyId !== undefined && typeof keyId !== "string") {
    throw refusedToken(`header 'kid' must be a text, got ${kindOf(keyId)}`);
  }
  return { algorithm, keyId };
}

const SHOWN_CHARS_MAX = 200;

/** As JSON, and not all of a long one: error texts quote what a stranger has sent. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? '""';
  return text.length <= SHOWN_CHARS_MAX ? text : `${text.slice(0, SHOWN_CHARS_MAX)}…`;
}

/** The type of a JSON value in words. */
function kindOf(value: unknown): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") return "a number";
  if (typeof value === "string") return "a text";
  return Array.isArray(value) ? "a list" : "an object";
}

/** Seconds since 1970 as a date; one that is no date as its number. */
function moment(seconds: number): string {
  const date = new Date(Math.floor(seconds) * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString().replace(".000Z", "Z");
}
