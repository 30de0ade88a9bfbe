import type { AggregatedProperty, AggregateQuery } from "@shoal/model";
import type { ArgumentNode, FieldNode } from "graphql";
import {
  aggregatedProperty,
  groupByPath,
  type SelectedProperty,
  topOccurrencesLimit,
} from "../aggregate/selected-properties.js";
import type { BoundValue, LiteralBindings } from "./bind-literals.js";
import type { LiftedLiterals } from "./lifted-literals.js";
import { INTS, literalOf, NONE, numberAt, STRINGS, stringAt } from "./literal-plans.js";
import type { WherePlan } from "./where-plan.js";

/** A property with the literals of its limits, one for each of its places of `topOccurrences`. */
interface PropertyPlan {
  readonly selected: SelectedProperty;
  readonly limits: readonly number[];
  /** What is asked for, when no literal decides about it. */
  readonly fixed: AggregatedProperty | undefined;
}

/** A query, and how long each `topOccurrences` is, in the order of {@link AggregatePlan.placeOfTop}. */
export interface PlannedAggregate {
  readonly query: AggregateQuery;
  readonly topLimits: readonly number[];
}

/** How the {@link AggregateQuery} of a class field is made of lifted literals. */
export class AggregatePlan {
  private constructor(
    readonly className: string,
    private readonly groupBy: readonly number[] | undefined,
    private readonly limit: number,
    private readonly properties: readonly PropertyPlan[],
    private readonly tops: ReadonlyMap<FieldNode, number>,
    private readonly where: WherePlan | undefined,
  ) {}

  /** Undefined when an argument holds anything that literals of fixed kinds cannot stand for. */
  static of(
    className: string,
    selected: readonly SelectedProperty[],
    nodes: readonly ArgumentNode[] | undefined,
    bindings: LiteralBindings,
    where: WherePlan | undefined | null,
  ): AggregatePlan | undefined {
    if ((nodes ?? []).some((node) => !ARGUMENTS.has(node.name.value))) return undefined;
    const limit = literalOf(bindings.argument(nodes, "limit"), INTS);
    const groupBy = groupByPlan(bindings.argument(nodes, "groupBy"));
    const tops = new Map<FieldNode, number>();
    const properties: PropertyPlan[] = [];
    for (const each of selected) {
      const limits: number[] = [];
      for (const node of each.topOccurrences) {
        const literal = literalOf(bindings.argument(node.arguments, "limit"), INTS);
        if (literal === undefined) return undefined;
        tops.set(node, tops.size);
        limits.push(literal);
      }
      properties.push({ selected: each, limits, fixed: limits.length > 0 ? undefined : aggregatedProperty(each, []) });
    }
    if (limit === undefined || groupBy === null || where === null) return undefined;
    return new AggregatePlan(className, groupBy, limit, properties, tops, where);
  }

  get hasGroups(): boolean {
    return this.groupBy !== undefined;
  }

  placeOf(property: string): number {
    return this.properties.findIndex(({ selected }) => selected.name === property);
  }

  placeOfTop(nodes: readonly FieldNode[]): number | undefined {
    return nodes[0] && this.tops.get(nodes[0]);
  }

  /** Fails as the resolver would, and in its order. */
  query(literals: LiftedLiterals): PlannedAggregate {
    const topLimits: number[] = [];
    const where = this.where?.value(literals);
    const groupBy = groupByPath(this.groupBy?.map((index) => stringAt(literals, index) ?? null));
    const properties = this.properties.map(({ selected, limits, fixed }) => {
      if (fixed !== undefined) return fixed;
      const own = limits.map((index) => topOccurrencesLimit(this.className, selected.name, numberAt(literals, index)));
      topLimits.push(...own);
      return aggregatedProperty(selected, own);
    });
    const limit = numberAt(literals, this.limit);
    return { query: { className: this.className, where, groupBy, limit, properties }, topLimits };
  }
}

const ARGUMENTS: ReadonlySet<string> = new Set(["groupBy", "limit", "where"]);

/** Literals of the path, {@link NONE} for null; undefined when it is not given, null when it cannot be planned. */
function groupByPlan(value: BoundValue): readonly number[] | undefined | null {
  if (value.from === "nowhere") return undefined;
  if (value.from === "emptyList") return [];
  if (value.from !== "list") {
    // One text stands for a list of it.
    const only = literalOf(value, STRINGS);
    return only === undefined || only === NONE ? null : [only];
  }
  const path: number[] = [];
  for (const item of value.items) {
    const literal = literalOf(item, STRINGS);
    if (literal === undefined) return null;
    path.push(literal);
  }
  return path;
}
