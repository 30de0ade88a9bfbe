import type { RightsHolder } from "@shoal/model";
import { boundedName, boundedReason } from "./audit-line.js";
import type { AuditLog } from "./audit-log.js";
import { UNKNOWN_STATUSES } from "./audited-request.js";

/** A request to the internal port that has been answered. Nobody has a name there. */
export interface InternalRequest {
  readonly address: string | undefined;
  readonly method: string;
  /** As it was registered. */
  readonly route: string;
  readonly path: string;
  readonly status: number;
  /** What it would change; undefined: it reads. */
  readonly action: string | undefined;
}

/** Has in the audit log what {@link AuditedRequest} would have there: each change, and counts of what was denied or has failed. */
export function auditInternalRequest(log: AuditLog, request: InternalRequest): void {
  const { address, method, path, status, action } = request;
  const isDenied = status === 401 || status === 403;
  if (action === undefined && !isDenied) return;
  const origin = { principal: undefined, address, isInternal: true } as const;
  const route = `${method} ${request.route}`;
  const place = { status, route, path: boundedName(path) };
  const isUnknown = UNKNOWN_STATUSES.has(status);
  if (status >= 400 && !isUnknown) {
    const outcome = isDenied ? "denied" : "failed";
    log.refused(origin, `${outcome} ${status} ${route}`, outcome, () => ({
      action: action ?? "get",
      ...place,
    }));
  } else log.event(origin, { action: action ?? "get", outcome: isUnknown ? "unknown" : "allowed", ...place });
}

/** A classification that ends because whoever has started it may not do it any more. */
export interface RefusedClassification {
  readonly id: string;
  readonly className: string;
  /** Undefined: nobody knows, so that nobody may. */
  readonly startedBy: RightsHolder | undefined;
  /** The refusal. */
  readonly reason: string;
}

/** Has a line of its own, as the job had when it was started. It comes of no request, so it has no address. */
export function auditRefusedClassification(
  log: AuditLog,
  { id, className, startedBy, reason }: RefusedClassification,
): void {
  log.event(
    { principal: startedBy, address: undefined },
    {
      action: "continue_classification",
      outcome: "denied",
      class: boundedName(className),
      id: boundedName(id),
      reason: boundedReason(reason),
    },
  );
}
