import type { Action, ClassRights } from "@shoal/model";
import type { Share } from "@shoal/runtime";

/** Who asks. */
export interface Principal {
  readonly username: string;
  readonly groups: readonly string[];
  /** Who vouches for the name: nobody, this server (an API key), or an OpenID Connect issuer. Two users may share a name. */
  readonly userType: "anonymous" | "db" | "oidc";
}

/** Who asks without credentials (specification, "Authentication" 3). */
export const ANONYMOUS: Principal = { username: "anonymous", groups: ["anonymous"], userType: "anonymous" };

export type Verb = "get" | "list" | "create" | "update" | "delete" | "validate";

/** What an operation does, and to what (reference-rest 2.1). */
export interface Permission {
  readonly verb: Verb;
  /** `objects/{id}`: parameters of the path are filled in, in their order. */
  readonly resource: string;
  /** Where roles say who may do what: what a role must allow. On which class, role or user is looked at when that is known. */
  readonly action: Action;
  /** Whether it must be allowed everywhere, as what is done concerns all classes; else on anything at all. */
  readonly isEverywhere?: true;
}

/**
 * Who may use a route.
 * - `open`: everybody; nobody is asked who he is (probes, documentation).
 * - `anyone`: everybody, but a token that is sent must be good.
 * - `authenticated`: whoever the server knows, which includes `anonymous` where anonymous access is on.
 * - a permission: whom the authorization grants it.
 */
export type RouteAccess = "open" | "anyone" | "authenticated" | Permission;

/** Where a request carries its credentials. */
export interface Credentials {
  /** The `Authorization` header. */
  readonly authorization: string | undefined;
  /** The query string without `?`, not decoded; empty when there is none. */
  readonly queryString: string;
  /** For whom they are looked at, as long as nobody knows whose they are. */
  readonly share?: Share;
}

/** Authentication and authorization of a gateway. */
export interface AccessControl {
  /**
   * Who sends a request, a plain value where nothing must be waited for; undefined when it carries no token and
   * anonymous access is off. Fails with `unauthenticated` on a token that is no good, with `unavailable` when its issuer
   * cannot be asked.
   */
  identify(credentials: Credentials): Principal | undefined | Promise<Principal | undefined>;
  /** What somebody may do to the objects of classes; absent, and undefined: everything. Fails with `unavailable` while that is not known. */
  rightsOf?(principal: Principal): ClassRights | undefined;
  /** What a client can authenticate with, as the reference calls it: `API-keys`, `OIDC`. Absent: nothing. */
  readonly methods?: readonly string[];
  /** Fails with `forbidden`. `params`: the parameters of the path, in their order. */
  authorize(principal: Principal, permission: Permission, params: readonly string[]): void;
  /**
   * What clients must know to get a token; absent when no tokens are accepted. Fails with `unavailable` while the issuer
   * has not told it.
   */
  openId?(): OpenIdDocument;
}

/** The discovery document of an OpenID Connect issuer, with the members `href` and `clientId` (decisions). */
export type OpenIdDocument = Readonly<Record<string, unknown>>;

/** Anonymous access without rules. */
export const OPEN_ACCESS: AccessControl = { identify: () => ANONYMOUS, authorize: () => {} };

/** The resource of a permission with the parameters of the path filled in. */
export function resourceOf({ resource }: Permission, params: readonly string[]): string {
  let next = 0;
  return resource.replace(/\{\w+\}/g, () => params[next++] ?? "");
}

/** A user in the words of a refusal: with his groups. */
export function userWithGroups({ username, groups }: Principal): string {
  if (groups.length === 0) return `user '${username}'`;
  const quoted = groups.map((group) => `'${group}'`).join(", ");
  return `user '${username}' (of group${groups.length === 1 ? "" : "s"} ${quoted})`;
}
