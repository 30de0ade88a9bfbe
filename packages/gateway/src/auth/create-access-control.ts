import { ShoalError } from "@shoal/model";
import type {
  AdminListConfiguration,
  AuthenticationConfiguration,
  Clock,
  Logger,
  Metrics,
  OidcConfiguration,
} from "@shoal/service-runtime";
import { type AccessControl, ANONYMOUS, type OpenIdDocument } from "./access.js";
import { authorizeBy } from "./admin-list.js";
import { discoveryUrl } from "./discovery.js";
import { findToken } from "./find-token.js";
import { Issuer, type IssuerTimes } from "./issuer.js";
import { type DocumentReader, readDocument } from "./read-document.js";
import { TokenVerifier } from "./token-verifier.js";
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
}

/** Who gets in, and what they may do. An issuer is asked from now on in the background, until this is disposed of. */
export function createAccessControl(
  { authentication, authorization }: AccessConfiguration,
  parts: AccessControlParts,
): AccessControl & Disposable {
  const { anonymousAccess, oidc } = authentication;
  const nobody = anonymousAccess ? ANONYMOUS : undefined;
  const authorize = authorizeBy(authorization);
  if (oidc === undefined) {
    describeTokenMetrics(parts.metrics, undefined);
    return {
      identify(credentials) {
        if (findToken(credentials) === undefined) return nobody;
        throw new ShoalError("unauthenticated", NO_OIDC);
      },
      authorize,
      [Symbol.dispose]() {},
    };
  }
  const verified = new VerifiedTokens();
  const { clock, logger, read = readDocument, times } = parts;
  const issuer = new Issuer(oidc.issuer, {
    clock,
    logger,
    read,
    ...(times === undefined ? {} : { times }),
    onKeysWithdrawn: () => verified.clear(),
  });
  const verifier = new TokenVerifier({ oidc, issuer, verified, clock });
  describeTokenMetrics(parts.metrics, verifier);
  issuer.start();
  return {
    identify(credentials) {
      const token = findToken(credentials);
      return token === undefined ? nobody : verifier.verify(token);
    },
    authorize,
    openId: () => openIdDocument(oidc, issuer),
    [Symbol.dispose]: () => issuer[Symbol.dispose](),
  };
}

function describeTokenMetrics(metrics: Metrics | undefined, verifier: TokenVerifier | undefined): void {
  metrics?.counter(
    {
      name: "shoal_tokens_total",
      help: "Bearer tokens by outcome: cached, verified, refused, unanswered.",
      labelNames: ["outcome"],
    },
    () => Object.entries(verifier?.counts ?? {}).map(([outcome, value]) => ({ labels: { outcome }, value })),
  );
}

/** reference-rest 7.3. */
const NO_OIDC = "oidc auth is not configured, please try another auth scheme or set up weaviate with OIDC configured";

/** What clients of the reference read is added to the issuer's own document, so that both kinds of clients find theirs. */
function openIdDocument({ issuer: url, clientId }: OidcConfiguration, issuer: Issuer): OpenIdDocument {
  const { document } = issuer;
  if (document === undefined) {
    throw new ShoalError("unavailable", `the issuer ${url} has not answered yet`, {
      retryAfterSeconds: issuer.retryAfterSeconds,
    });
  }
  // Undefined where none is configured: what the issuer itself says under that name is not ours.
  return { ...document, href: discoveryUrl(url), clientId };
}
