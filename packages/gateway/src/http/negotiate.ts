import type { IncomingMessage } from "node:http";
import { errorResponse, type HttpResponse } from "./http-response.js";
import { hasBody } from "./read-body.js";

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
