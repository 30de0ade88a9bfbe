import { ShoalError } from "@shoal/model";
import { type HttpResponse, thrownResponse } from "../http/http-response.js";
import type { Credentials } from "./access.js";
import { findToken } from "./find-token.js";

const DESCRIPTION_CHARS_MAX = 200;

/** Whatever was thrown, as the response to whoever sent these credentials: a 401 says how to do better. */
export function respondToThrown(thrown: unknown, credentials: Credentials): HttpResponse {
  const response = thrownResponse(thrown);
  if (response.status !== 401 || !(thrown instanceof ShoalError)) return response;
  return { ...response, headers: ["WWW-Authenticate", challenge(credentials, thrown.message)] };
}

/** RFC 6750, section 3: without a token only the scheme, with one that is no good also what is wrong with it. */
function challenge(credentials: Credentials, message: string): string {
  const scheme = 'Bearer realm="shoal"';
  if (findToken(credentials) === undefined) return scheme;
  return `${scheme}, error="invalid_token", error_description="${headerText(message.slice(0, DESCRIPTION_CHARS_MAX))}"`;
}

/** What the attribute may hold: printable ASCII without quotation mark and backslash. */
function headerText(text: string): string {
  return text.replace(/"/g, "'").replace(/[^ !#-[\]-~]/g, "?");
}
