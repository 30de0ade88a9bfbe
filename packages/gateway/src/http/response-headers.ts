import type { RequestWarnings } from "@shoal/model";
import type { HttpResponse } from "./http-response.js";

/** What a page may read of a response beside its content type: what clients act on. */
const READABLE = "X-Request-Id, Retry-After, Warning, WWW-Authenticate";

/** `*` stands for whatever a page sends without cookies, but `Authorization` must be named (Fetch standard, 4.8). */
const SENDABLE = "Content-Type, Authorization, Batch, X-Request-Id, *";

/** The response to OPTIONS, of any path: what a page may send whose origin is admitted (`allowOrigin`). */
export function preflightResponse(allowOrigin: string | undefined): HttpResponse {
  if (allowOrigin === undefined) return { status: 200 };
  const headers = [
    ...["Access-Control-Allow-Origin", allowOrigin],
    ...["Access-Control-Allow-Methods", "*"],
    ...["Access-Control-Allow-Headers", SENDABLE],
  ];
  return { status: 200, headers };
}

/** `response` for a page whose origin is admitted. */
export function readableResponse(response: HttpResponse, allowOrigin: string): HttpResponse {
  const headers = ["Access-Control-Allow-Origin", allowOrigin, "Access-Control-Expose-Headers", READABLE];
  return { ...response, headers: [...headers, ...(response.headers ?? [])] };
}

/** `response` to a request with a token in its URL: nobody on the way keeps it under that URL (RFC 6750, 2.3). */
export function privateResponse(response: HttpResponse): HttpResponse {
  const headers = ["Cache-Control", "private, no-store"];
  for (let at = 0; response.headers !== undefined && at < response.headers.length; at += 2) {
    const [name = "", value = ""] = response.headers.slice(at, at + 2);
    if (name.toLowerCase() !== "cache-control") headers.push(name, value);
  }
  return { ...response, headers };
}

/** Longer texts are cut: names come from clients, and proxies bound the headers of a response. */
const TEXT_CHARS_MAX = 300;

/** The response with its warnings. */
export function warnedResponse(response: HttpResponse, warnings: RequestWarnings): HttpResponse {
  return { ...response, headers: [...(response.headers ?? []), ...warningHeaders(warnings)] };
}

/** One header `Warning: 299 - "…"` (RFC 7234, 5.5) a warning, and one for those that are only counted. */
export function warningHeaders({ worded, others }: RequestWarnings): readonly string[] {
  const texts = others === 0 ? worded : [...worded, `and ${others} more of the kind`];
  return texts.flatMap((text) => ["Warning", `299 - ${quotedString(text)}`]);
}

/** Printable ASCII only: whatever else a name holds cannot end the header or the string. */
function quotedString(text: string): string {
  const printable = text.slice(0, TEXT_CHARS_MAX).replace(/[^\x20-\x7e]/g, "?");
  return `"${printable.replace(/["\\]/g, "\\$&")}"`;
}
