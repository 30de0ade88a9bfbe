import type { Credentials } from "./access.js";

const SCHEME = "Bearer ";
const PARAMETER = "access_token";

/**
 * The bearer token of a request: of the header `Authorization: Bearer <token>` (the scheme as it is written here, as in
 * the reference), else of the query parameter `access_token`. Undefined when there is none; other schemes count as none.
 * The form field of reference-rest 7.2 does not exist here: a form as a body is refused with 415.
 */
export function findToken({ authorization, queryString }: Credentials): string | undefined {
  if (authorization?.startsWith(SCHEME)) {
    const token = authorization.slice(SCHEME.length).trim();
    if (token !== "") return token;
  }
  if (!carriesToken(queryString)) return undefined;
  return new URLSearchParams(queryString).get(PARAMETER) || undefined;
}

/** Whether a query string may hold a token: what is in a URL is kept in many places. */
export function carriesToken(queryString: string): boolean {
  return queryString.includes(PARAMETER);
}
