import { setting } from "../setting.js";
import { exactTexts, issuerUrl, text, texts, truth } from "../setting-parsers.js";

/**
 * Who gets in and may do what. Names and keys are those of the reference (reference-rest 7.1). Undefined is "not set":
 * `read-authentication.ts` decides what follows from that, and makes of them the one value that code receives.
 */
export const AUTHENTICATION_SETTINGS = {
  requiresAuthentication: setting("REQUIRES_AUTHENTICATION", "requiresAuthentication", truth, {
    fallback: false,
    meaning:
      "Demands API keys or OpenID Connect, fully set (OpenID Connect when neither is named), and switches anonymous access off.",
  }),
  anonymousAccess: setting(
    "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED",
    "authentication.anonymous_access.enabled",
    truth,
    {
      fallbackText: "true, with API keys or OpenID Connect false",
      meaning: "Whether requests without a token are accepted, as user anonymous.",
    },
  ),
  apiKeysEnabled: setting("AUTHENTICATION_APIKEY_ENABLED", "authentication.apikey.enabled", truth, {
    fallback: false,
    meaning: "Whether API keys are accepted as bearer tokens. The next three count only then.",
  }),
  apiKeysAllowed: setting("AUTHENTICATION_APIKEY_ALLOWED_KEYS", "authentication.apikey.allowed_keys", exactTexts, {
    fallback: [],
    isSecret: true,
    meaning: "The keys, separated by commas. Anyone who may inspect this process can read them: the file is safer.",
  }),
  apiKeysUsers: setting("AUTHENTICATION_APIKEY_USERS", "authentication.apikey.users", exactTexts, {
    fallback: [],
    meaning: "Users of the keys: one user for all of them, or as many as keys, in the same order, separated by commas.",
  }),
  apiKeysFile: setting("AUTHENTICATION_APIKEY_ALLOWED_KEYS_FILE", "authentication.apikey.allowed_keys_file", text, {
    fallback: "",
    meaning:
      "File with more keys: a line is user,key, or a key of the one user of AUTHENTICATION_APIKEY_USERS; # begins a comment line. Checked every 5 s; its content counts when it is the same at two readings 5 s apart (at the start, once it is a second old), so about 10 s after it was last written.",
  }),
  oidcEnabled: setting("AUTHENTICATION_OIDC_ENABLED", "authentication.oidc.enabled", truth, {
    fallbackText: "REQUIRES_AUTHENTICATION",
    meaning: "Whether bearer tokens of an OpenID Connect issuer are accepted. The next seven count only then.",
  }),
  oidcIssuer: setting("AUTHENTICATION_OIDC_ISSUER", "authentication.oidc.issuer", issuerUrl, {
    meaning: "URL of the issuer, exactly as its discovery document and its tokens give it.",
  }),
  oidcClientId: setting("AUTHENTICATION_OIDC_CLIENT_ID", "authentication.oidc.client_id", text, {
    meaning: "Client id that the audience of a token must hold.",
  }),
  oidcSkipClientIdCheck: setting(
    "AUTHENTICATION_OIDC_SKIP_CLIENT_ID_CHECK",
    "authentication.oidc.skip_client_id_check",
    truth,
    {
      fallback: false,
      meaning: "Accepts tokens that the issuer made for anybody; less safe.",
    },
  ),
  oidcUsernameClaim: setting("AUTHENTICATION_OIDC_USERNAME_CLAIM", "authentication.oidc.username_claim", text, {
    meaning:
      "Claim of a token that holds the user's name: sub, which an issuer gives to one user only. With email, tokens whose email_verified is not true are refused.",
  }),
  oidcGroupsClaim: setting("AUTHENTICATION_OIDC_GROUPS_CLAIM", "authentication.oidc.groups_claim", text, {
    meaning: "Claim that holds a list of the user's groups.",
  }),
  oidcScopes: setting("AUTHENTICATION_OIDC_SCOPES", "authentication.oidc.scopes", texts, {
    fallback: [],
    meaning:
      "Scopes that clients ask the issuer for, separated by commas: served by /v1/.well-known/openid-configuration, requested by the console.",
  }),
  oidcKeysUrl: setting("AUTHENTICATION_OIDC_JWKS_URL", "authentication.oidc.jwks_url", issuerUrl, {
    meaning: "URL of the issuer's keys, where its discovery document does not lead to them.",
  }),
  adminListEnabled: setting("AUTHORIZATION_ADMINLIST_ENABLED", "authorization.admin_list.enabled", truth, {
    fallback: false,
    meaning: "Whether only those on the lists may do anything. The lists count only then.",
  }),
  adminListUsers: setting("AUTHORIZATION_ADMINLIST_USERS", "authorization.admin_list.users", texts, {
    fallback: [],
    meaning: "Users who may do everything, separated by commas; by name, of an API key and of a token alike.",
  }),
  adminListReadOnlyUsers: setting(
    "AUTHORIZATION_ADMINLIST_READONLY_USERS",
    "authorization.admin_list.read_only_users",
    texts,
    {
      fallback: [],
      meaning: "Users who may only read, separated by commas.",
    },
  ),
  adminListGroups: setting("AUTHORIZATION_ADMINLIST_GROUPS", "authorization.admin_list.groups", texts, {
    fallback: [],
    meaning: "Groups of a token whose members may do everything, separated by commas.",
  }),
  adminListReadOnlyGroups: setting(
    "AUTHORIZATION_ADMINLIST_READONLY_GROUPS",
    "authorization.admin_list.read_only_groups",
    texts,
    {
      fallback: [],
      meaning: "Groups of a token whose members may only read, separated by commas.",
    },
  ),
} as const;
