import type { IncomingMessage } from "node:http";
import { errorResponse, type HttpResponse } from "./http-response.js";

/** The answer to `GET /`, as in the reference: there is nothing here but a pointer to the API. */
export const ROOT: HttpResponse = {
  status: 301,
  body: '{"links":{"href":"/v1","name":"api v1"}}\n',
  contentType: "text/plain; charset=utf-8",
  headers: ["Location", "/v1"],
};

export const BAD_TARGET = errorResponse(400, "the request's target is neither a path nor an absolute URL of HTTP");

/** `uri-host [ ":" port ]` (RFC 9110, 7.2; RFC 3986, 3.2.2); empty where the target has no host. */
const HOST = /^(?:\[[0-9A-Za-z:.~_-]+\]|(?:[0-9A-Za-z._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)(?::[0-9]*)?$/;

/** `request.headers` has the first one only; two may be read differently by a proxy in front. */
function hasSeveralHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts > 1;
}

/** What is wrong with the headers of a request before its path matters (RFC 9110, 10.1.1; RFC 9112, 3.2), or undefined. */
export function refuseHeaders(request: IncomingMessage): HttpResponse | undefined {
  const { expect, host } = request.headers;
  if (host === undefined) {
    if (request.httpVersion === "1.1") return errorResponse(400, "the Host header is missing");
  } else if (!HOST.test(host)) {
    return errorResponse(400, "the Host header is no host with an optional port");
  } else if (hasSeveralHosts(request.rawHeaders)) {
    return errorResponse(400, "the Host header stands more than once");
  }
  if (expect === undefined || expect.trim().toLowerCase() === "100-continue") return undefined;
  return errorResponse(417, `the expectation ${JSON.stringify(expect)} cannot be met, only 100-continue can`);
}

export function unmatched(method: string, path: string, allow: readonly string[] | undefined): HttpResponse {
  if (allow === undefined) return errorResponse(404, `path ${path} was not found`);
  const message = `method ${method} is not allowed, but [${allow.join(",")}] are`;
  return errorResponse(405, message, ["Allow", allow.join(",")]);
}
