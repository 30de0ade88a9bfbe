import type { GetQuery, Grouping, ReferenceSelection, RowFields } from "@shoal/model";
import type { ArgumentNode } from "graphql";
import type { BoundValue, LiteralBindings } from "./bind-literals.js";
import type { LiftedLiterals } from "./lifted-literals.js";
import { INTS, literalOf, NearObjectPlan, NearVectorPlan, NONE, NUMBERS, numberAt } from "./literal-plans.js";
import type { AdditionalPlans, SearchPlans } from "./module-plans.js";
import type { WherePlan } from "./where-plan.js";

/** What a class field selects, the same in every request of its template. */
export interface GetSelection {
  readonly className: string;
  readonly fields: RowFields;
  readonly references: readonly ReferenceSelection[];
  /** Of the references, the classes that are answered, each alias counted. */
  readonly answeredTargets: number;
}

/** What of a class field modules answer. */
export interface ModulePlans {
  /** Of all search arguments that the class has from modules. */
  readonly names: { has(name: string): boolean };
  readonly searches: SearchPlans;
  readonly additional: AdditionalPlans;
}

/** How the {@link GetQuery} of a class field is made of lifted literals. */
export class GetPlan {
  private constructor(
    readonly selection: GetSelection,
    private readonly limit: number,
    private readonly offset: number,
    private readonly nearVector: NearVectorPlan | undefined,
    private readonly nearObject: NearObjectPlan | undefined,
    private readonly group: GroupPlan | undefined,
    private readonly where: WherePlan | undefined,
    private readonly modules: ModulePlans,
  ) {}

  /** Undefined when an argument holds anything that literals of fixed kinds cannot stand for. */
  static of(
    selection: GetSelection,
    nodes: readonly ArgumentNode[] | undefined,
    bindings: LiteralBindings,
    where: WherePlan | undefined | null,
    modules: ModulePlans,
  ): GetPlan | undefined {
    const limit = literalOf(bindings.argument(nodes, "limit"), INTS);
    const offset = literalOf(bindings.argument(nodes, "offset"), INTS);
    const nearVector = NearVectorPlan.of(bindings.argument(nodes, "nearVector"));
    const nearObject = NearObjectPlan.of(bindings.argument(nodes, "nearObject"));
    const group = groupPlan(bindings.argument(nodes, "group"));
    const isOther = (nodes ?? []).some(({ name: { value: name } }) => !ARGUMENTS.has(name) && !modules.names.has(name));
    if (isOther || limit === undefined || offset === undefined) return undefined;
    if (nearVector === null || nearObject === null || group === null || where === null) return undefined;
    return new GetPlan(selection, limit, offset, nearVector, nearObject, group, where, modules);
  }

  get isNear(): boolean {
    return this.nearVector !== undefined || this.nearObject !== undefined || !this.modules.searches.isEmpty;
  }

  query(literals: LiftedLiterals): GetQuery {
    const { className, fields, references } = this.selection;
    const { group } = this;
    const { searches, additional } = this.modules;
    const where = this.where?.value(literals);
    return {
      className,
      limit: numberAt(literals, this.limit),
      offset: numberAt(literals, this.offset),
      nearVector: this.nearVector?.value(literals),
      nearObject: this.nearObject?.value(literals),
      fields,
      ...(searches.isEmpty ? {} : { moduleSearches: searches.values(literals) }),
      ...(additional.isEmpty ? {} : { additional: additional.values(literals) }),
      ...(where === undefined ? {} : { where }),
      ...(group === undefined ? {} : { group: { type: group.type, force: literals.number(group.force) } }),
      ...(references.length === 0 ? {} : { references }),
    };
  }
}

const ARGUMENTS: ReadonlySet<string> = new Set(["limit", "offset", "nearVector", "nearObject", "group", "where"]);

interface GroupPlan {
  readonly type: Grouping["type"];
  readonly force: number;
}

/** Undefined when it is not given, null when it cannot be planned, as without its type, which is refused. */
function groupPlan(value: BoundValue): GroupPlan | undefined | null {
  if (value.from === "nowhere") return undefined;
  if (value.from !== "object") return null;
  const type = value.members.get("type");
  const force = literalOf(value.members.get("force"), NUMBERS);
  if (type?.from !== "enum" || force === undefined || force === NONE) return null;
  return type.name === "closest" || type.name === "merge" ? { type: type.name, force } : null;
}
