import type { GetQuery } from "@shoal/model";
import type { QueryService } from "@shoal/query";
import type { RequestContext } from "@shoal/rpc";
import { rowsOfGet } from "../guards/request-cost.js";
import type { GraphQlLimits } from "../limits.js";
import type { GetPlan } from "./get-plan.js";
import type { LiftedLiterals } from "./lifted-literals.js";
import type { BoundCall, PlannedCall, WriteAnswer } from "./planned-call.js";
import type { RowWriter } from "./row-writer.js";

/** `Get.<Class>`. */
export class GetCall implements PlannedCall {
  readonly kind = "call";

  constructor(
    readonly responseName: string,
    readonly plan: GetPlan,
    readonly rows: RowWriter,
    readonly limits: GraphQlLimits,
  ) {}

  bind(literals: LiftedLiterals): BoundCall {
    return new BoundGet(this, this.plan.query(literals));
  }
}

class BoundGet implements BoundCall {
  readonly rows: number;

  constructor(
    private readonly call: GetCall,
    private readonly get: GetQuery,
  ) {
    this.rows = rowsOfGet(get, call.limits);
  }

  get targets(): number {
    return this.call.plan.selection.answeredTargets;
  }

  async run(query: QueryService, context: RequestContext): Promise<WriteAnswer> {
    const rows = await query.get(this.get, context);
    return (out) => this.call.rows.write(rows, out);
  }
}
