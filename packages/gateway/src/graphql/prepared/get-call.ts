import type { GetQuery } from "@shoal/model";
import type { GetRow, QueryService } from "@shoal/query";
import type { RequestContext } from "@shoal/runtime";
import { rowsOfGet } from "../guards/request-cost.js";
import type { GraphQlLimits } from "../limits.js";
import { keyOfRequest } from "../module-values.js";
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
    const { get, places } = askedOnce(this.get);
    const rows = await query.get(get, context);
    const written = places === undefined ? rows : rows.map((row) => withEachPlace(row, places));
    return (out) => this.call.rows.write(written, out);
  }
}

/** The query with each request to modules once; `places`, unless all differ, tells which answer belongs to each request. */
function askedOnce(get: GetQuery): { readonly get: GetQuery; readonly places?: readonly number[] } {
  const { additional = [] } = get;
  if (additional.length < 2) return { get };
  const keys = additional.map(keyOfRequest);
  const asked = [...new Set(keys)];
  if (asked.length === keys.length) return { get };
  return {
    get: { ...get, additional: additional.filter((_, at) => keys.indexOf(keys[at] as string) === at) },
    places: keys.map((key) => asked.indexOf(key)),
  };
}

function withEachPlace(row: GetRow, places: readonly number[]): GetRow {
  return { ...row, additional: places.map((place) => row.additional?.[place] ?? null) };
}
