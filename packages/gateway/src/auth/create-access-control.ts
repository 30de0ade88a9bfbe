import { ShoalError } from "@shoal/model";
import type { Share } from "@shoal/runtime";
import type {
  AdminListConfiguration,
  AuthenticationConfiguration,
  Clock,
  Logger,
  Metrics,
  OidcConfiguration,
} from "@shoal/service-runtime";
import type { AccessBook } from "../authorization/access-book.js";
import { type AccessControl, ANONYMOUS, type OpenIdDocument, type Principal } from "./access.js";
import { authorizeBy } from "./admin-list.js";
import { type ApiKeySource, ApiKeyTable, ApiKeyVerifier } from "./api-keys.js";
import { discoveryUrl } from "./discovery.js";
import { findToken } from "./find-token.js";
import { Issuer, type IssuerTimes } from "./issuer.js";
import { hasThreeParts, isJsonWebToken } from "./json-web-token.js";
import { type DocumentReader, readDocument } from "./read-document.js";
import { TOKEN_BYTES_MAX, TokenVerifier } from "./token-verifier.js";
import { VerifiedTokens } from "./verified-tokens.js";

export interface AccessConfiguration {
  readonly authentication: AuthenticationConfiguration;
  readonly authorization: AdminListConfiguration | undefined;
}

export interface AccessControlParts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics?: Metrics | undefined;
  readonly read?: DocumentReader;
  readonly times?: IssuerTimes;
  /** Where API keys are looked up that the settings do not hold, in this order. */
  readonly apiKeySources?: readonly ApiKeySource[];
  /** Roles and users that are made at run time; none when absent. */
  readonly book?: AccessBook | undefined;
}

/** Who gets in, and what they may do. An issuer is asked from now on in the background, until this is disposed of. */
export function createAccessControl(
  { authentication, authorization }: AccessConfiguration,
  parts: AccessControlParts,
): AccessControl & Disposable {
  const { anonymousAccess, apiKeys, oidc } = authentication;
  const nobody = anonymousAccess ? ANONYMOUS : undefined;
  const { apiKeySources = [], book } = parts;
  const authorize = book?.hasRoles === true ? authorizeByRoles(book) : authorizeBy(authorization);
  const sources = [
    ...(apiKeys === undefined ? [] : [ApiKeyTable.of(apiKeys.allowed)]),
    ...apiKeySources,
    ...(book?.hasUsers === true ? [book] : []),
  ];
  const keys = sources.length === 0 ? undefined : new ApiKeyVerifier(sources);
  const tokens = oidc === undefined ? undefined : verifyTokens(oidc, parts);
  describeTokenMetrics(parts.metrics, tokens?.verifier, keys);
  const verify = verifyCredentials(tokens?.verifier, keys);
  const methods = [...(keys === undefined ? [] : ["API-keys"]), ...(tokens === undefined ? [] : ["OIDC"])];
  return {
    identify(credentials) {
      const token = findToken(credentials);
      return token === undefined ? nobody : verify(token, credentials.share);
    },
    authorize,
    ...(book?.hasRoles === true ? { rightsOf: (principal: Principal) => book.permissionsOf(principal) } : {}),
    methods,
    ...(tokens === undefined ? {} : { openId: () => openIdDocument(tokens.oidc, tokens.issuer) }),
    [Symbol.dispose]: () => tokens?.issuer[Symbol.dispose](),
  };
}

/**
 * Authorization by roles, before a request's body is read: whoever may do what a route does nowhere is refused. On which class,
 * role or user he may is looked at by whoever knows that.
 */
function authorizeByRoles(book: AccessBook): AccessControl["authorize"] {
  return (principal, { action, isEverywhere }) => {
    const permissions = book.permissionsOf(principal);
    if (isEverywhere === true) permissions?.requireEverywhere(action);
    else permissions?.requireAny(action);
  };
}

/** What verifies the tokens of an issuer, which is asked from now on. */
function verifyTokens(oidc: OidcConfiguration, parts: AccessControlParts) {
  const verified = new VerifiedTokens();
  const { clock, logger, read = readDocument, times } = parts;
  const issuer = new Issuer(oidc.issuer, {
    clock,
    logger,
    read,
    ...(times === undefined ? {} : { times }),
    keysUrl: oidc.keysUrl,
    onKeysWithdrawn: () => verified.clear(),
  });
  const verifier = new TokenVerifier({ oidc, issuer, verified, clock });
  issuer.start();
  return { oidc, issuer, verifier };
}

/** What is a JSON Web Token goes to the issuer where there is one, anything else to the keys (reference-today 1.6). */
function verifyCredentials(
  tokens: TokenVerifier | undefined,
  keys: ApiKeyVerifier | undefined,
): (token: string, share?: Share) => Principal | Promise<Principal> {
  if (tokens === undefined) {
    if (keys !== undefined) return (token) => keys.verify(token);
    return () => {
      throw new ShoalError("unauthenticated", NO_TOKENS);
    };
  }
  if (keys === undefined) return (token, share) => tokens.verify(token, share);
  return (token, share) => {
    if (!hasThreeParts(token)) return keys.verify(token);
    const known = tokens.recall(token);
    if (known !== undefined) return known;
    return token.length > TOKEN_BYTES_MAX || isJsonWebToken(token) ? tokens.verify(token, share) : keys.verify(token);
  };
}

function describeTokenMetrics(
  metrics: Metrics | undefined,
  verifier: TokenVerifier | undefined,
  keys: ApiKeyVerifier | undefined,
): void {
  const describe = (name: string, help: string, counts: Readonly<Record<string, number>> = {}) =>
    metrics?.counter({ name, help, labelNames: ["outcome"] }, () =>
      Object.entries(counts).map(([outcome, value]) => ({ labels: { outcome }, value })),
    );
  describe(
    "shoal_api_keys_total",
    "Looks at API keys that requests carried, before a body and after it, by outcome: accepted, refused.",
    keys?.counts,
  );
  describe(
    "shoal_tokens_total",
    "Looks at bearer tokens, before a body and after it, by outcome: cached, verified, refused, unanswered.",
    verifier?.counts,
  );
}

const NO_TOKENS =
  "this server accepts no tokens: neither API keys (AUTHENTICATION_APIKEY_ENABLED) nor OpenID Connect " +
  "(AUTHENTICATION_OIDC_ENABLED) is on; send the request without one";

/** What clients of the reference read is added to the issuer's own document, so that both kinds of clients find theirs. */
function openIdDocument({ issuer: url, clientId, scopes }: OidcConfiguration, issuer: Issuer): OpenIdDocument {
  const { document } = issuer;
  if (document === undefined) {
    throw new ShoalError("unavailable", `the issuer ${url} has not answered yet`, {
      retryAfterSeconds: issuer.retryAfterSeconds,
    });
  }
  // Undefined where none is configured: what the issuer itself says under that name is not ours.
  const asked = scopes.length === 0 ? {} : { scopes };
  return { ...document, href: discoveryUrl(url), clientId, ...asked };
}
