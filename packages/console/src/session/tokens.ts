/**
 * What a sign-in has brought. It is kept in the tab's sessionStorage: a reload goes on, other tabs and later visits
 * see nothing of it, and it ends with the tab. No foreign script runs here (Content-Security-Policy), and one that
 * did could use a token in memory just as well.
 */
export interface Tokens {
  /** What is sent to the server. */
  readonly bearer: string;
  readonly idToken: string;
  readonly refreshToken: string | undefined;
  /** By this machine's clock. */
  readonly expiresAt: number;
  /** For people: who is signed in. */
  readonly name: string;
  readonly issuer: string;
}

/** What an issuer answers, as far as it is used. */
export interface TokenResponse {
  readonly access_token: string;
  readonly id_token?: string | undefined;
  readonly refresh_token?: string | undefined;
  readonly expires_in?: number | undefined;
}

type Claims = Readonly<Record<string, unknown>>;

const KEY = "shoal.console.tokens";
/** When an issuer does not say how long its tokens live. */
const LIFETIME_SECONDS_DEFAULT = 300;

export function keepTokens(storage: Storage, tokens: Tokens | undefined): void {
  if (tokens === undefined) storage.removeItem(KEY);
  else storage.setItem(KEY, JSON.stringify(tokens));
}

/** Undefined when there are none, or those of another issuer. */
export function keptTokens(storage: Storage, issuer: string): Tokens | undefined {
  try {
    const kept = JSON.parse(storage.getItem(KEY) ?? "null") as Tokens | null;
    return kept?.issuer === issuer && typeof kept.bearer === "string" ? kept : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The tokens of a response. The server checks signatures and claims, so it needs a JWT: the access token, or where that
 * is no JWT (issuers may choose any form for it) the ID token. Undefined when there is neither.
 */
export function tokensOf(
  response: TokenResponse,
  before: Tokens | undefined,
  issuer: string,
  now: number,
): Tokens | undefined {
  const accessClaims = claimsOf(response.access_token);
  const idToken = response.id_token ?? before?.idToken ?? "";
  const bearer = accessClaims === undefined ? response.id_token : response.access_token;
  const claims = accessClaims ?? claimsOf(response.id_token ?? "");
  if (bearer === undefined || claims === undefined) return undefined;
  const stated = accessClaims === undefined ? undefined : response.expires_in;
  const seconds = stated ?? lifetimeOf(claims) ?? LIFETIME_SECONDS_DEFAULT;
  return {
    bearer,
    idToken,
    refreshToken: response.refresh_token ?? before?.refreshToken,
    expiresAt: now + seconds * 1000,
    name: nameOf(claimsOf(idToken) ?? claims),
    issuer,
  };
}

/** Undefined when the text is no JWT. Nothing is verified here: that is the server's part. */
export function claimsOf(jwt: string): Claims | undefined {
  const parts = jwt.split(".");
  if (parts.length !== 3) return undefined;
  try {
    const base64 = (parts[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof claims === "object" && claims !== null && !Array.isArray(claims) ? (claims as Claims) : undefined;
  } catch {
    return undefined;
  }
}

/** By the issuer's clock alone: ours may be wrong. */
function lifetimeOf({ exp, iat }: Claims): number | undefined {
  return typeof exp === "number" && typeof iat === "number" && exp > iat ? exp - iat : undefined;
}

function nameOf(claims: Claims): string {
  const names = [claims.preferred_username, claims.name, claims.email, claims.sub];
  return names.find((name): name is string => typeof name === "string" && name !== "") ?? "signed in";
}
