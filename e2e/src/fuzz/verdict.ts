import { at } from "../http-client.js";
import type { ApiOperation } from "./api-document.js";
import type { FuzzRequest } from "./odd-requests.js";
import type { RawOutcome } from "./raw-connection.js";

/** What a request that is broken below its body may be answered, whatever it was meant for. */
const TRANSPORT_STATUSES = new Set([
  200, 201, 204, 301, 302, 400, 401, 403, 404, 405, 406, 408, 413, 415, 417, 422, 429, 431,
]);

/** What is wrong with an answer; undefined when nothing is. */
export function complaint(operation: ApiOperation, request: FuzzRequest, outcome: RawOutcome): string | undefined {
  if (outcome === "silent") return "no answer";
  // A connection may be cut where the request's own framing is broken.
  if (outcome === "closed") return request.isOddTransport ? undefined : "the connection ended without an answer";
  const { status, headers, body } = outcome;
  const text = body.toString("utf8");
  // What is switched off says so.
  const isOff = status === 501 && operation.statuses.has(501);
  if (status >= 500 && status !== 503 && status !== 504 && !isOff) return `${status} ${text}`;
  if (request.isOddTransport ? !TRANSPORT_STATUSES.has(status) && status < 500 : !operation.statuses.has(status)) {
    return `the status ${status} is not documented for ${operation.name}: ${text.slice(0, 300)}`;
  }
  if (request.method === "HEAD") return body.length === 0 ? undefined : "an answer to HEAD with a body";
  // The operation that the verb leads to may describe an error without a body.
  const mayBeEmpty = operation.emptyStatuses.get(request.method)?.has(status) === true;
  if (status >= 400 && text === "" && mayBeEmpty) return undefined;
  if (status >= 400) return isErrorBody(text) ? undefined : `${status} without the error shape: ${text.slice(0, 300)}`;
  if (body.length > 0 && headers.get("content-type") === undefined) return `${status} with a body without a type`;
  const validate = request.isOddTransport ? undefined : operation.answers.get(status);
  if (validate === undefined || validate(parsed(text))) return undefined;
  const [error] = validate.errors ?? [];
  return `the answer is not as documented: ${error?.instancePath} ${error?.message}: ${text.slice(0, 600)}`;
}

/** The one shape of errors (decisions, "error body"). */
export function isErrorBody(text: string): boolean {
  const value = parsed(text);
  const errors = at(value, "error");
  if (!Array.isArray(errors) || errors.length !== 1 || Object.keys(value as object).length !== 1) return false;
  const message = at(errors, 0, "message");
  return typeof message === "string" && message !== "" && message.length < 5_000;
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
