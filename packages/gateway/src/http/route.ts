import type { RouteAccess } from "../auth/access.js";
import type { HttpRequest, RequestContent } from "./http-request.js";
import type { HttpResponse } from "./http-response.js";

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

/** What an operation is called in the audit log, and how it is told. */
export interface AuditedOperation {
  readonly action: string;
  /** `line`: each has its own. `count`: what was written is counted; the handler tells it to the request's witness. */
  readonly told: "line" | "count";
}

/** One operation: a plain function from a request value to an answer value. What it throws becomes an error answer. */
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
  /** How the audit log tells of it; absent: it changes nothing, and only its refusals are told. */
  readonly audited?: AuditedOperation;
  /** Which time-out ends it. */
  readonly timeout: "request" | "batch";
  /**
   * Reads parameters and body as `handle` does, and fails where it fails because of their format; absent where there is
   * nothing to read. Only run when access is refused: faults of the format are told before that (reference-rest 1.1).
   */
  readonly bind?: (request: RequestContent) => void | Promise<void>;
  readonly handle: (request: HttpRequest) => Promise<HttpResponse> | HttpResponse;
}
