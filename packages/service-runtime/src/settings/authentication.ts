import { setting } from "../setting.js";
import { issuerUrl, text, texts, truth } from "../setting-parsers.js";

/**
 * Who gets in and may do what. Names and keys are those of the reference (reference-rest 7.1). Undefined is "not set":
 * `read-authentication.ts` decides what follows from that, and makes of them the one value that code receives.
 */
export const AUTHENTICATION_SETTINGS = {
  requiresAuthentication: setting(
    "REQUIRES_AUTHENTICATION",
    "requiresAuthentication",
    false,
    "Demands OpenID Connect, fully set, and switches anonymous access off.",
    truth,
  ),
  anonymousAccess: {
    ...setting<boolean | undefined>(
      "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED",
      "authentication.anonymous_access.enabled",
      undefined,
      "Whether requests without a token are accepted, as user anonymous.",
      truth,
    ),
    fallbackText: "true, with OpenID Connect false",
  },
  oidcEnabled: {
    ...setting<boolean | undefined>(
      "AUTHENTICATION_OIDC_ENABLED",
      "authentication.oidc.enabled",
      undefined,
      "Whether bearer tokens of an OpenID Connect issuer are accepted. The next five count only then.",
      truth,
    ),
    fallbackText: "REQUIRES_AUTHENTICATION",
  },
  oidcIssuer: setting<string | undefined>(
    "AUTHENTICATION_OIDC_ISSUER",
    "authentication.oidc.issuer",
    undefined,
    "URL of the issuer, exactly as its discovery document and its tokens give it.",
    issuerUrl,
  ),
  oidcClientId: setting<string | undefined>(
    "AUTHENTICATION_OIDC_CLIENT_ID",
    "authentication.oidc.client_id",
    undefined,
    "Client id that the audience of a token must hold.",
    text,
  ),
  oidcSkipClientIdCheck: setting(
    "AUTHENTICATION_OIDC_SKIP_CLIENT_ID_CHECK",
    "authentication.oidc.skip_client_id_check",
    false,
    "Accepts tokens that the issuer made for anybody; less safe.",
    truth,
  ),
  oidcUsernameClaim: setting<string | undefined>(
    "AUTHENTICATION_OIDC_USERNAME_CLAIM",
    "authentication.oidc.username_claim",
    undefined,
    "Claim of a token that holds the user's name, e.g. email.",
    text,
  ),
  oidcGroupsClaim: setting<string | undefined>(
    "AUTHENTICATION_OIDC_GROUPS_CLAIM",
    "authentication.oidc.groups_claim",
    undefined,
    "Claim that holds a list of the user's groups.",
    text,
  ),
  adminListEnabled: setting(
    "AUTHORIZATION_ADMINLIST_ENABLED",
    "authorization.admin_list.enabled",
    false,
    "Whether only those on the two lists may do anything. They count only then.",
    truth,
  ),
  adminListUsers: setting<readonly string[]>(
    "AUTHORIZATION_ADMINLIST_USERS",
    "authorization.admin_list.users",
    [],
    "Users who may do everything, separated by commas.",
    texts,
  ),
  adminListReadOnlyUsers: setting<readonly string[]>(
    "AUTHORIZATION_ADMINLIST_READONLY_USERS",
    "authorization.admin_list.read_only_users",
    [],
    "Users who may only read, separated by commas.",
    texts,
  ),
} as const;
