import type { QueryService } from "@shoal/query";
import type { RequestContext } from "@shoal/runtime";
import type { FieldCost } from "../guards/request-cost.js";
import type { JsonBytes } from "./json-bytes.js";
import type { LiftedLiterals } from "./lifted-literals.js";

/** A field that is answered by one call of the query service. */
export interface PlannedCall {
  readonly kind: "call";
  readonly responseName: string;
  /** Takes its values out of the literals, which soon hold those of the next request. Fails as its resolver would. */
  bind(literals: LiftedLiterals): BoundCall;
}

/** A call whose values are known. */
export interface BoundCall extends FieldCost {
  run(query: QueryService, context: RequestContext): Promise<WriteAnswer>;
}

/**
 * Writes the answer of a call; yields now and then, so that a large one need not hold up everybody else. Fails with
 * `dataLoss` when stored bytes are no JSON; what was written by then is the caller's to take back.
 */
export type WriteAnswer = (out: JsonBytes) => Iterable<void>;
