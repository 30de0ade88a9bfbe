import type { RightsHolder } from "@shoal/model";
import { boundedName, boundedReason } from "./audit-line.js";
import type { AuditLog } from "./audit-log.js";

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
