import type { Credentials } from "./access.js";

const SCHEME = "Bearer ";
const PARAMETER = "access_token";
/** As others may read a header with a token: schemes are alike in any spelling (RFC 9110, 11.1). */
const TOKEN_HEADER = /^bearer +[^ ]/i;

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
  return tokensIn(queryString)[0] || undefined;
}

/**
 * What is wrong with a request that has more than one token, or undefined: RFC 6750, section 2, allows one, in one place. Whoever
 * checks tokens in front of the server might look at another one than the server does.
 */
export function refuseTokens({ authorization, queryString }: Credentials): string | undefined {
  const inQuery = tokensIn(queryString);
  if (inQuery.length > 1) return `the ${PARAMETER} parameter stands more than once`;
  if (!inQuery[0] || authorization === undefined || !TOKEN_HEADER.test(authorization)) return undefined;
  return `there is a token in the Authorization header and one in the ${PARAMETER} parameter`;
}

/** Whether a query string may hold a token: what is in a URL is kept in many places. */
export function carriesToken(queryString: string): boolean {
  return queryString.includes(PARAMETER) || tokensIn(queryString).length > 0;
}

/** Parameters' names may be percent-encoded, too. */
function tokensIn(queryString: string): readonly string[] {
  if (!queryString.includes(PARAMETER) && !queryString.includes("%")) return [];
  return new URLSearchParams(queryString).getAll(PARAMETER);
}
