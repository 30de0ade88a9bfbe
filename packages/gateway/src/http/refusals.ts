import type { IncomingMessage } from "node:http";
import { errorResponse, type HttpResponse } from "./http-response.js";
import { hasBody } from "./incoming-body.js";

/** The response to `GET /`, as in the reference: there is nothing here but a pointer to the API. */
export const ROOT: HttpResponse = {
  status: 301,
  body: '{"links":{"href":"/v1","name":"api v1"}}\n',
  contentType: "text/plain; charset=utf-8",
  headers: ["Location", "/v1"],
};

export const BAD_TARGET = errorResponse(400, "the request's target is neither a path nor an absolute URL of HTTP");

/** `uri-host [ ":" port ]` (RFC 9110, 7.2; RFC 3986, 3.2.2); empty where the target has no host. */
const HOST = /^(?:\[[0-9A-Za-z:.~_-]+\]|(?:[0-9A-Za-z._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)(?::[0-9]*)?$/;

const SINGLE = ["Host", "Authorization"];

/** The header that stands more than once and must not: `request.headers` has the first one, a proxy in front may read the last. */
function repeated(rawHeaders: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    const single = SINGLE.find((one) => one.length === name.length && one.toLowerCase() === name.toLowerCase());
    if (single === undefined) continue;
    if (seen.has(single)) return single;
    seen.add(single);
  }
  return undefined;
}

/** What is wrong with the headers of a request before its path matters (RFC 9110, 10.1.1 and 11.6.2; RFC 9112, 3.2 and 6.1), or undefined. */
export function refuseHeaders(request: IncomingMessage): HttpResponse | undefined {
  const { expect, host, "transfer-encoding": coding } = request.headers;
  if (host === undefined) {
    if (request.httpVersion === "1.1") return errorResponse(400, "the Host header is missing");
  } else if (!HOST.test(host)) {
    return errorResponse(400, "the Host header is no host with an optional port");
  }
  const twice = repeated(request.rawHeaders);
  if (twice !== undefined) return errorResponse(400, `the ${twice} header stands more than once`);
  if (coding !== undefined && coding.trim().toLowerCase() !== "chunked") {
    return errorResponse(501, `the transfer encoding ${JSON.stringify(coding)} is not built, only chunked is`);
  }
  if (expect === undefined || expect.trim().toLowerCase() === "100-continue") return undefined;
  return errorResponse(417, `the expectation ${JSON.stringify(expect)} cannot be met, only 100-continue can`);
}

export function unmatched(method: string, path: string, allow: readonly string[] | undefined): HttpResponse {
  if (allow === undefined) return errorResponse(404, `path ${path} was not found`);
  const message = `method ${method} is not allowed, but [${allow.join(",")}] are`;
  return errorResponse(405, message, ["Allow", allow.join(",")]);
}

/** Content negotiation (reference-rest 1.2): what refuses the request before its body is read, or undefined. */
export function refuseMediaTypes(request: IncomingMessage, takesBody: boolean): HttpResponse | undefined {
  if (hasBody(request)) return refuseContentType(request) ?? (takesBody ? refuseContentEncoding(request) : undefined);
  const accept = request.headers.accept;
  if (accept === undefined || accept === "" || accept === "*/*" || accept === JSON_TYPE || acceptsJson(accept))
    return undefined;
  return errorResponse(406, `unsupported media type requested, only [${JSON_TYPE}] are available`);
}

const JSON_TYPE = "application/json";

function refuseContentType(request: IncomingMessage): HttpResponse | undefined {
  const contentType = request.headers["content-type"];
  if (contentType === JSON_TYPE) return undefined;
  const type = (contentType || "application/octet-stream").split(";", 1)[0]?.trim().toLowerCase();
  if (type === JSON_TYPE) return undefined;
  return errorResponse(415, `unsupported media type ${JSON.stringify(type)}, only [${JSON_TYPE}] are allowed`);
}

function refuseContentEncoding(request: IncomingMessage): HttpResponse | undefined {
  const encoding = request.headers["content-encoding"]?.trim().toLowerCase();
  if (encoding === undefined || encoding === "identity" || encoding === "gzip" || encoding === "x-gzip") {
    return undefined;
  }
  return errorResponse(
    415,
    `unsupported content encoding ${JSON.stringify(encoding)}, only [gzip identity] are allowed`,
    ["Accept-Encoding", "gzip, identity"],
  );
}

/** The most specific range that fits decides (RFC 9110, 12.5.1); `q=0` means not acceptable. */
function acceptsJson(accept: string): boolean {
  let bestRank = -1;
  let accepted = false;
  for (const range of accept.split(",")) {
    const [type, ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const rank = type === JSON_TYPE ? 2 : type === "application/*" ? 1 : type === "*/*" ? 0 : -1;
    if (rank < 0 || rank < bestRank) continue;
    const quality = parameters.find((parameter) => parameter.startsWith("q="));
    bestRank = rank;
    accepted = quality === undefined || Number(quality.slice(2)) > 0;
  }
  return accepted;
}
