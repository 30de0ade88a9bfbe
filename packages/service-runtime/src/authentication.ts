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
}

/** Who gets in. At least one of the two is on. */
export interface AuthenticationConfiguration {
  /** Whether a request without a token is accepted, as user `anonymous`. */
  readonly anonymousAccess: boolean;
  /** Undefined: no tokens are accepted. */
  readonly oidc: OidcConfiguration | undefined;
}

/** Who may do what, by user name. The lists share no name, and at least one of them has one. */
export interface AdminListConfiguration {
  /** May do everything. */
  readonly users: readonly string[];
  /** May only read. Whoever is on neither list may do nothing. */
  readonly readOnlyUsers: readonly string[];
}
