/** How a token is checked that an OpenID Connect issuer has signed. Complete: what was missing was refused at the start. */
export interface OidcConfiguration {
  /** http(s) URL without query, exactly as written: tokens and the discovery document must carry the same text. */
  readonly issuer: string;
  /** What the audience of a token must hold; undefined only when `skipClientIdCheck` is true. */
  readonly clientId: string | undefined;
  readonly skipClientIdCheck: boolean;
  readonly usernameClaim: string;
  /** Undefined: nobody has groups. */
  readonly groupsClaim: string | undefined;
  /** What clients shall ask the issuer for; empty: they know. */
  readonly scopes: readonly string[];
  /** Where the issuer's keys are; undefined: its discovery document says it. */
  readonly keysUrl: string | undefined;
}

/** A key that is accepted, by its digest: the key itself is not kept. */
export interface AllowedApiKey {
  /** See `digestOfKey`. */
  readonly digest: Buffer;
  readonly username: string;
}

/** API keys of the settings. At least one key, or a file. */
export interface ApiKeyConfiguration {
  readonly allowed: readonly AllowedApiKey[];
  /** File with more of them, as `parseApiKeyFile` reads it. */
  readonly file: string | undefined;
  /** Whose the keys are that stand in the file without a user; undefined: each names its own. */
  readonly soleUser: string | undefined;
  /** Whether tokens of an issuer are accepted, too. */
  readonly besideIssuer: boolean;
}

/** Who gets in. At least one of them is on. */
export interface AuthenticationConfiguration {
  /** Whether a request without a token is accepted, as user `anonymous`. */
  readonly anonymousAccess: boolean;
  /** Undefined: none are accepted. */
  readonly apiKeys: ApiKeyConfiguration | undefined;
  /** Undefined: no tokens of an issuer are accepted. */
  readonly oidc: OidcConfiguration | undefined;
}

/**
 * Who may do what, by user name and by group. No user is on both lists, no group either, and at least one list is not
 * empty.
 */
export interface AdminListConfiguration {
  /** May do everything. */
  readonly users: readonly string[];
  /** May only read. Whoever is on no list may do nothing. */
  readonly readOnlyUsers: readonly string[];
  /** Their members may do everything. */
  readonly groups: readonly string[];
  /** Their members may only read. */
  readonly readOnlyGroups: readonly string[];
}
