import type { QueryService } from "@shoal/query";
import type { RequestContext } from "@shoal/runtime";
import { rowsOfAggregate } from "../guards/request-cost.js";
import type { GraphQlLimits } from "../limits.js";
import type { AggregatePlan, PlannedAggregate } from "./aggregate-plan.js";
import type { GroupWriter } from "./group-writer.js";
import type { LiftedLiterals } from "./lifted-literals.js";
import type { BoundCall, PlannedCall, WriteAnswer } from "./planned-call.js";

/** `Aggregate.<Class>`. */
export class AggregateCall implements PlannedCall {
  readonly kind = "call";

  constructor(
    readonly responseName: string,
    private readonly plan: AggregatePlan,
    private readonly groups: GroupWriter,
    private readonly limits: GraphQlLimits,
  ) {}

  bind(literals: LiftedLiterals): BoundCall {
    const planned = this.plan.query(literals);
    return new BoundAggregate(
      planned,
      this.groups,
      rowsOfAggregate(this.plan.hasGroups, planned.query.limit, this.limits),
    );
  }
}

class BoundAggregate implements BoundCall {
  readonly targets = 0;

  constructor(
    private readonly planned: PlannedAggregate,
    private readonly groups: GroupWriter,
    readonly rows: number,
  ) {}

  async run(query: QueryService, context: RequestContext): Promise<WriteAnswer> {
    const groups = await query.aggregate(this.planned.query, context);
    return (out) => this.groups.write(groups, this.planned, out);
  }
}
