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
 * Everything about a token but its signature, in the order of the reference (reference-rest 7.3), and besides: `exp` is
 * demanded, `nbf` counts, `crit` is refused. Fails with `unauthenticated`.
 */
export function checkToken({ header, claims }: JsonWebToken, oidc: OidcConfiguration, nowMs: number): TokenHeader {
  const issuer = memberOf(claims, "iss");
  if (issuer !== oidc.issuer) {
    throw refusedToken(`id token issued by a different provider, expected ${shown(oidc.issuer)} got ${shown(issuer)}`);
  }
  if (!oidc.skipClientIdCheck) checkAudience(memberOf(claims, "aud"), oidc.clientId);
  checkTimes(claims, nowMs);
  return checkHeader(header);
}

/** Who a token whose signature is good speaks for. Fails with `unauthenticated`. */
export function principalOf(claims: JsonMembers, oidc: OidcConfiguration): Principal {
  const { usernameClaim, groupsClaim } = oidc;
  const username = memberOf(claims, usernameClaim);
  if (username === undefined) throw refusedToken(`token doesn't contain required claim '${usernameClaim}'`);
  if (typeof username !== "string") {
    throw refusedToken(`claim '${usernameClaim}' is not a string, but ${kindOf(username)}`);
  }
  if (username === "") throw refusedToken(`claim '${usernameClaim}' is empty`);
  const groups = groupsClaim === undefined ? undefined : memberOf(claims, groupsClaim);
  const names = Array.isArray(groups) ? groups.filter((group) => typeof group === "string") : [];
  return { username, groups: names, userType: "oidc" };
}

/** When the token ends, in milliseconds since 1970. Only for tokens that `checkToken` let pass. */
export function expiryMs(claims: JsonMembers): number {
  return (memberOf(claims, "exp") as number) * 1000;
}

function checkAudience(audience: unknown, clientId: string | undefined): void {
  const audiences = Array.isArray(audience) ? audience : [audience];
  if (clientId !== undefined && audiences.includes(clientId)) return;
  const got = audience === undefined ? [] : audiences;
  throw refusedToken(`expected audience ${shown(clientId)} got ${shown(got)}`);
}

function checkTimes(claims: JsonMembers, nowMs: number): void {
  const expiry = memberOf(claims, "exp");
  if (expiry === undefined) throw refusedToken("token has no expiry (claim 'exp'), which is required");
  if (typeof expiry !== "number") throw refusedToken(`claim 'exp' is not a number, but ${kindOf(expiry)}`);
  if (!(nowMs < expiry * 1000)) throw refusedToken(`token is expired (Token Expiry: ${moment(expiry)})`);
  const notBefore = memberOf(claims, "nbf");
  if (notBefore === undefined) return;
  if (typeof notBefore !== "number") throw refusedToken(`claim 'nbf' is not a number, but ${kindOf(notBefore)}`);
  if (notBefore * 1000 > nowMs + NOT_BEFORE_TOLERANCE_SECONDS * 1000) {
    throw refusedToken(`token is not valid yet (Not Before: ${moment(notBefore)})`);
  }
}

/** Tokens for access and for identity; those for other ends (logout, security events) name other types. */
const TYPES = /^(?:application\/)?(?:jwt|at\+jwt)$/i;

function checkHeader(header: JsonMembers): TokenHeader {
  const algorithm = memberOf(header, "alg");
  if (!isSignatureAlgorithm(algorithm)) {
    throw refusedToken(
      `id token signed with unsupported algorithm, expected ${shown(SIGNATURE_ALGORITHMS)} got ${shown(algorithm)}`,
    );
  }
  const type = memberOf(header, "typ");
  if (type !== undefined && !(typeof type === "string" && TYPES.test(type))) {
    throw refusedToken(`token is of type ${shown(type)}, expected "JWT" or "at+jwt"`);
  }
  if (memberOf(header, "crit") !== undefined) {
    throw refusedToken("token demands extensions that are not supported (header 'crit')");
  }
  const keyId = memberOf(header, "kid");
  if (keyId !== undefined && typeof keyId !== "string") {
    throw refusedToken(`header 'kid' is not a string, but ${kindOf(keyId)}`);
  }
  return { algorithm, keyId };
}

const SHOWN_CHARS_MAX = 200;

/** As JSON, and not all of a long one: error texts quote what a stranger has sent. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? '""';
  return text.length <= SHOWN_CHARS_MAX ? text : `${text.slice(0, SHOWN_CHARS_MAX)}…`;
}

/** The type of a JSON value as the reference names it (reference-rest 7.3). */
function kindOf(value: unknown): string {
  if (value === null) return "<nil>";
  if (typeof value === "number") return "float64";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string") return "string";
  return Array.isArray(value) ? "[]interface {}" : "map[string]interface {}";
}

/** Seconds since 1970 as the reference writes a moment; one that is no date as its number. */
function moment(seconds: number): string {
  const date = new Date(Math.floor(seconds) * 1000);
  if (Number.isNaN(date.getTime())) return String(seconds);
  return `${date.toISOString().slice(0, 19).replace("T", " ")} +0000 UTC`;
}
