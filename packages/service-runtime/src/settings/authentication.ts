import { setting } from "../setting.js";
import { exactTexts, issuerUrl, text, texts, truth } from "../setting-parsers.js";

/**
 * Who gets in and may do what. Names and keys are those of the reference (reference-rest 7.1). Undefined is "not set":
 * `read-authentication.ts` decides what follows from that, and makes of them the one value that code receives.
 */
export const AUTHENTICATION_SETTINGS = {
  requiresAuthentication: setting(
    "REQUIRES_AUTHENTICATION",
    "requiresAuthentication",
    false,
    "Demands API keys or OpenID Connect, fully set (OpenID Connect when neither is named), and switches anonymous access off.",
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
    fallbackText: "true, with API keys or OpenID Connect false",
  },
  apiKeysEnabled: setting(
    "AUTHENTICATION_APIKEY_ENABLED",
    "authentication.apikey.enabled",
    false,
    "Whether API keys are accepted as bearer tokens. The next three count only then.",
    truth,
  ),
  apiKeysAllowed: {
    ...setting<readonly string[]>(
      "AUTHENTICATION_APIKEY_ALLOWED_KEYS",
      "authentication.apikey.allowed_keys",
      [],
      "The keys, separated by commas. Whoever may look at this process can read them: the file is safer.",
      exactTexts,
    ),
    isSecret: true,
  },
  apiKeysUsers: setting<readonly string[]>(
    "AUTHENTICATION_APIKEY_USERS",
    "authentication.apikey.users",
    [],
    "Whom the keys belong to: one user for all of them, or as many as keys, in the same order, separated by commas.",
    exactTexts,
  ),
  apiKeysFile: setting(
    "AUTHENTICATION_APIKEY_ALLOWED_KEYS_FILE",
    "authentication.apikey.allowed_keys_file",
    "",
    "File with more keys: a line is user,key, or a key of the one user of AUTHENTICATION_APIKEY_USERS; # begins a comment line. Looked at every 5 s; what it holds counts when it is the same at two readings 5 s apart (at the start, once it is a second old), so about 10 s after it was last written.",
    text,
  ),
  oidcEnabled: {
    ...setting<boolean | undefined>(
      "AUTHENTICATION_OIDC_ENABLED",
      "authentication.oidc.enabled",
      undefined,
      "Whether bearer tokens of an OpenID Connect issuer are accepted. The next seven count only then.",
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
    "Claim of a token that holds the user's name: sub, which an issuer gives to one user only. With email, tokens whose email_verified is not true are refused.",
    text,
  ),
  oidcGroupsClaim: setting<string | undefined>(
    "AUTHENTICATION_OIDC_GROUPS_CLAIM",
    "authentication.oidc.groups_claim",
    undefined,
    "Claim that holds a list of the user's groups.",
    text,
  ),
  oidcScopes: setting<readonly string[]>(
    "AUTHENTICATION_OIDC_SCOPES",
    "authentication.oidc.scopes",
    [],
    "Scopes that clients ask the issuer for, separated by commas: served by /v1/.well-known/openid-configuration, requested by the console.",
    texts,
  ),
  oidcKeysUrl: setting<string | undefined>(
    "AUTHENTICATION_OIDC_JWKS_URL",
    "authentication.oidc.jwks_url",
    undefined,
    "URL of the issuer's keys, where its discovery document does not lead to them.",
    issuerUrl,
  ),
  adminListEnabled: setting(
    "AUTHORIZATION_ADMINLIST_ENABLED",
    "authorization.admin_list.enabled",
    false,
    "Whether only those on the lists may do anything. The lists count only then.",
    truth,
  ),
  adminListUsers: setting<readonly string[]>(
    "AUTHORIZATION_ADMINLIST_USERS",
    "authorization.admin_list.users",
    [],
    "Users who may do everything, separated by commas; by name, of an API key and of a token alike.",
    texts,
  ),
  adminListReadOnlyUsers: setting<readonly string[]>(
    "AUTHORIZATION_ADMINLIST_READONLY_USERS",
    "authorization.admin_list.read_only_users",
    [],
    "Users who may only read, separated by commas.",
    texts,
  ),
  adminListGroups: setting<readonly string[]>(
    "AUTHORIZATION_ADMINLIST_GROUPS",
    "authorization.admin_list.groups",
    [],
    "Groups of a token whose members may do everything, separated by commas.",
    texts,
  ),
  adminListReadOnlyGroups: setting<readonly string[]>(
    "AUTHORIZATION_ADMINLIST_READONLY_GROUPS",
    "authorization.admin_list.read_only_groups",
    [],
    "Groups of a token whose members may only read, separated by commas.",
    texts,
  ),
} as const;
