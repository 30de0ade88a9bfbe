import type { RouteAccess } from "../auth/access.js";
import type { HttpRequest } from "./http-request.js";
import type { HttpResponse } from "./http-response.js";

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

/** What an operation is called in the audit log, and how it is recorded. */
export interface AuditedOperation {
  readonly action: string;
  /** `line`: each has its own. `count`: what was written is counted; the handler reports it to the request's observer. */
  readonly recorded: "line" | "count";
}

/** One operation: a plain function from a request value to a response value. What it throws becomes an error answer. */
export interface Route {
  readonly method: Method;
  /** See Router. */
  readonly path: string;
  /**
   * `json`: the body is read and must be JSON by its content type; `none`: a body must be JSON by its content type and
   * is ignored; `unchecked`: a body is ignored, and so is what the client wants to be answered with (probes, which
   * answer nothing, and pages for people).
   */
  readonly body: "json" | "none" | "unchecked";
  readonly access: RouteAccess;
  /** How the audit log records it; absent: it changes nothing, and only its refusals are recorded. */
  readonly audited?: AuditedOperation;
  /** Which time-out ends it. */
  readonly timeout: "request" | "batch";
  /** Looks at the query string of a request that has one, before its handler: what is not known goes to the warnings. */
  readonly checkQuery?: (request: HttpRequest) => void;
  readonly handle: (request: HttpRequest) => Promise<HttpResponse> | HttpResponse;
}
