import type { AdditionalRequest, Json, JsonObject, ModuleSearch } from "@shoal/model";
import type { AdditionalProperty, InputField, InputFields, Scalar, SearchArgument } from "@shoal/module-api";
import type { ArgumentNode, FieldNode } from "graphql";
import type { BoundValue, LiteralBindings } from "./bind-literals.js";
import type { LiftedLiterals, LiteralKind } from "./lifted-literals.js";
import { INTS, literalOf, NONE, NUMBERS, STRINGS } from "./literal-plans.js";

/** How a value is made of lifted literals; it makes undefined for what is not given. */
type ValuePlan = (literals: LiftedLiterals) => Json | undefined;

const ABSENT: ValuePlan = () => undefined;

/** How the search arguments of modules are made of lifted literals. */
export class SearchPlans {
  private constructor(private readonly plans: ReadonlyMap<string, ValuePlan>) {}

  /** Null when one cannot be planned. */
  static of(
    searches: ReadonlyMap<string, SearchArgument>,
    autocorrect: boolean,
    nodes: readonly ArgumentNode[] | undefined,
    bindings: LiteralBindings,
  ): SearchPlans | null {
    const plans = new Map<string, ValuePlan>();
    for (const { name, input } of searches.values()) {
      const bound = bindings.argument(nodes, name);
      const plan = bound.from === "nowhere" ? undefined : planOf({ type: input({ autocorrect }) }, bound);
      if (plan === null) return null;
      if (plan !== undefined) plans.set(name, plan);
    }
    return new SearchPlans(plans);
  }

  get isEmpty(): boolean {
    return this.plans.size === 0;
  }

  values(literals: LiftedLiterals): readonly ModuleSearch[] {
    return [...this.plans].map(([argument, plan]) => ({ argument, value: plan(literals) as JsonObject }));
  }
}

/** What a class field asks modules for in `_additional`; grows while its selection is compiled. */
export class AdditionalPlans {
  readonly #requests: { readonly name: string; readonly given: ValuePlan }[] = [];

  constructor(
    private readonly properties: ReadonlyMap<string, AdditionalProperty>,
    private readonly bindings: LiteralBindings,
  ) {}

  /** The place of the field's value in rows; undefined when it is no module's, or cannot be planned. */
  placeOf(field: FieldNode): number | undefined {
    const property = this.properties.get(field.name.value);
    if (property === undefined) return undefined;
    const given = membersPlan(property.arguments, (name) => this.bindings.argument(field.arguments, name));
    if (given === null) return undefined;
    return this.#requests.push({ name: property.name, given }) - 1;
  }

  get isEmpty(): boolean {
    return this.#requests.length === 0;
  }

  values(literals: LiftedLiterals): readonly AdditionalRequest[] {
    return this.#requests.map(({ name, given }) => ({ name, given: given(literals) as JsonObject }));
  }
}

/** Null when it cannot be planned. */
function planOf(field: InputField, value: BoundValue): ValuePlan | null {
  if (value.from === "nowhere") return ABSENT;
  if (field.list === undefined) return itemPlan(field.type, value);
  if (value.from === "emptyList") return () => [];
  const items = value.from === "list" ? value.items : [value];
  const plans = items.flatMap((item) => itemPlan(field.type, item) ?? []);
  if (plans.length < items.length) return null;
  return (literals) => plans.map((plan) => plan(literals) ?? null);
}

function itemPlan(type: InputField["type"], value: BoundValue): ValuePlan | null {
  if (typeof type !== "string") {
    return value.from === "object" ? membersPlan(type.fields, (name) => value.members.get(name)) : null;
  }
  if (type === "Boolean") return value.from === "boolean" ? () => value.value : null;
  const literal = literalOf(value, KINDS[type]);
  if (literal === undefined || literal === NONE) return null;
  return (literals) => (type === "String" ? literals.string(literal) : literals.number(literal));
}

function membersPlan(fields: InputFields, boundOf: (name: string) => BoundValue | undefined): ValuePlan | null {
  const members: [string, ValuePlan][] = [];
  for (const [name, field] of Object.entries(fields)) {
    const plan = planOf(field, boundOf(name) ?? { from: "nowhere" });
    if (plan === null) return null;
    if (plan !== ABSENT) members.push([name, plan]);
  }
  return (literals) => Object.fromEntries(members.map(([name, plan]) => [name, plan(literals) ?? null]));
}

const KINDS: Readonly<Record<Exclude<Scalar, "Boolean">, readonly LiteralKind[]>> = {
  String: STRINGS,
  Int: INTS,
  Float: NUMBERS,
};
