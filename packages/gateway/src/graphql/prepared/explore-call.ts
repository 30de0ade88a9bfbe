import { type BeaconScheme, type ExploreQuery, writeShortBeacon } from "@shoal/model";
import type { SearchArgument } from "@shoal/module-api";
import type { ExploreRow, QueryService } from "@shoal/query";
import type { RequestContext } from "@shoal/runtime";
import type { ArgumentNode } from "graphql";
import { TURN_LENGTH } from "../../json/write-in-turns.js";
import { rowsOfExplore } from "../guards/request-cost.js";
import type { GraphQlLimits } from "../limits.js";
import type { LiteralBindings } from "./bind-literals.js";
import type { JsonBytes } from "./json-bytes.js";
import type { LiftedLiterals } from "./lifted-literals.js";
import { INTS, literalOf, NearObjectPlan, NearVectorPlan, numberAt } from "./literal-plans.js";
import { SearchPlans } from "./module-plans.js";
import type { BoundCall, PlannedCall, WriteAnswer } from "./planned-call.js";

/** A field of an explored row; without a name the constant that is its type's. */
export interface ExploredField {
  readonly responseName: string;
  readonly name: "beacon" | "className" | "certainty" | undefined;
}

/** How the {@link ExploreQuery} is made of lifted literals. */
export class ExplorePlan {
  private constructor(
    private readonly limit: number,
    private readonly offset: number,
    private readonly nearVector: NearVectorPlan | undefined,
    private readonly nearObject: NearObjectPlan | undefined,
    private readonly searches: SearchPlans,
  ) {}

  /** Undefined when an argument holds anything that literals of fixed kinds cannot stand for. */
  static of(
    nodes: readonly ArgumentNode[] | undefined,
    bindings: LiteralBindings,
    offered: ReadonlyMap<string, SearchArgument>,
    autocorrect: boolean,
  ): ExplorePlan | undefined {
    if ((nodes ?? []).some(({ name }) => !ARGUMENTS.has(name.value) && !offered.has(name.value))) return undefined;
    const searches = SearchPlans.of(offered, autocorrect, nodes, bindings);
    const limit = literalOf(bindings.argument(nodes, "limit"), INTS);
    const offset = literalOf(bindings.argument(nodes, "offset"), INTS);
    const nearVector = NearVectorPlan.of(bindings.argument(nodes, "nearVector"));
    const nearObject = NearObjectPlan.of(bindings.argument(nodes, "nearObject"));
    if (limit === undefined || offset === undefined) return undefined;
    if (nearVector === null || nearObject === null || searches === null) return undefined;
    return new ExplorePlan(limit, offset, nearVector, nearObject, searches);
  }

  query(literals: LiftedLiterals): ExploreQuery {
    return {
      nearVector: this.nearVector?.value(literals),
      nearObject: this.nearObject?.value(literals),
      ...(this.searches.isEmpty ? {} : { moduleSearches: this.searches.values(literals) }),
      limit: numberAt(literals, this.limit),
      offset: numberAt(literals, this.offset),
    };
  }
}

const ARGUMENTS: ReadonlySet<string> = new Set(["limit", "offset", "nearVector", "nearObject"]);

/** `Explore`. */
export class ExploreCall implements PlannedCall {
  readonly kind = "call";

  constructor(
    readonly responseName: string,
    private readonly plan: ExplorePlan,
    private readonly fields: readonly ExploredField[],
    private readonly scheme: BeaconScheme,
    private readonly limits: GraphQlLimits,
  ) {}

  bind(literals: LiftedLiterals): BoundCall {
    const explore = this.plan.query(literals);
    return {
      rows: rowsOfExplore(explore, this.limits),
      targets: 0,
      run: (query, context) => this.#run(explore, query, context),
    };
  }

  async #run(explore: ExploreQuery, query: QueryService, context: RequestContext): Promise<WriteAnswer> {
    const rows = await query.explore(explore, context);
    return (out) => this.#write(rows, out);
  }

  *#write(rows: readonly ExploreRow[], out: JsonBytes): Generator<void, void> {
    let turnEnd = out.length + TURN_LENGTH;
    out.byte(91);
    for (const [i, row] of rows.entries()) {
      if (i > 0) out.byte(44);
      this.#row(row, out);
      if (out.length < turnEnd) continue;
      yield;
      turnEnd = out.length + TURN_LENGTH;
    }
    out.byte(93);
  }

  #row({ id, className, certainty }: ExploreRow, out: JsonBytes): void {
    for (const [i, { responseName, name }] of this.fields.entries()) {
      out.ascii(`${i === 0 ? "{" : ","}"${responseName}":`);
      if (name === "certainty") out.float32(certainty);
      else if (name === "beacon") out.ascii(`"${writeShortBeacon(this.scheme, id)}"`);
      else out.ascii(`"${name === "className" ? className : "ExploreObj"}"`);
    }
    out.byte(125);
  }
}
