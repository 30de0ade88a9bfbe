import {
  type CombineOperator,
  type ComparedPath,
  type CompareOperator,
  checkWhereText,
  type FilterValue,
  filterGeoRange,
  filterInstant,
  VALUE_FIELDS,
  type WhereFilter,
  type WhereLimits,
  withPrefix,
} from "@shoal/model";
import { WHERE_PREFIX } from "../plan/read-where.js";
import type { BoundValue } from "./bind-literals.js";
import { type LiftedLiterals, LiteralKind } from "./lifted-literals.js";

/** A clause whose values are literals of the request. */
type ClausePlan =
  | { readonly kind: "combined"; readonly operator: CombineOperator; readonly operands: readonly ClausePlan[] }
  /** Without literals. */
  | { readonly kind: "fixed"; readonly clause: ComparedPath }
  | {
      readonly kind: "compared";
      readonly operator: CompareOperator;
      readonly path: readonly string[];
      readonly valueKind: Exclude<FilterValue["kind"], "boolean">;
      /** Of a range three: latitude, longitude, distance. */
      readonly literals: readonly number[];
    };

/** How the filter of a class field is made of lifted literals: operators and paths are those of its template. */
export class WherePlan {
  readonly #clause: ClausePlan;
  readonly #limits: WhereLimits;

  private constructor(clause: ClausePlan, limits: WhereLimits) {
    this.#clause = clause;
    this.#limits = limits;
  }

  /**
   * `filter` is what reading the argument gave in one request of the template. Undefined when it is not given, null when it
   * cannot be planned.
   */
  static of(value: BoundValue, filter: WhereFilter | undefined, limits: WhereLimits): WherePlan | undefined | null {
    if (value.from === "nowhere") return undefined;
    const clause = filter && clausePlan(value, filter);
    return clause === undefined ? null : new WherePlan(clause, limits);
  }

  /** Fails as reading the argument would. */
  value(literals: LiftedLiterals): WhereFilter {
    try {
      return new WhereBinding(literals, this.#limits).clause(this.#clause);
    } catch (thrown) {
      throw withPrefix(WHERE_PREFIX, thrown);
    }
  }
}

/** Clauses are bound in the order in which they are parsed, so that the same one fails first. */
class WhereBinding {
  readonly #literals: LiftedLiterals;
  readonly #limits: WhereLimits;
  #textChars = 0;

  constructor(literals: LiftedLiterals, limits: WhereLimits) {
    this.#literals = literals;
    this.#limits = limits;
  }

  clause(plan: ClausePlan): WhereFilter {
    if (plan.kind === "fixed") return plan.clause;
    if (plan.kind === "compared") {
      return { operator: plan.operator, path: plan.path, value: this.#value(plan.valueKind, plan.literals) };
    }
    return { operator: plan.operator, operands: plan.operands.map((operand) => this.clause(operand)) };
  }

  #value(kind: Exclude<FilterValue["kind"], "boolean">, indexes: readonly number[]): FilterValue {
    switch (kind) {
      case "int":
      case "number":
        // -0 is 0.
        return { kind, values: indexes.map((index) => this.#literals.number(index) + 0) };
      case "string":
      case "text":
        return { kind, values: this.#texts(indexes) };
      case "date":
        return { kind, values: indexes.map((index) => filterInstant(this.#literals.string(index))) };
      case "geoRange": {
        const [latitude = 0, longitude = 0, distanceMax = 0] = indexes.map((index) => this.#literals.number(index));
        return { kind, values: [filterGeoRange(latitude, longitude, distanceMax)] };
      }
    }
  }

  #texts(indexes: readonly number[]): readonly string[] {
    const texts = indexes.map((index) => this.#literals.string(index));
    for (const text of texts) this.#textChars += text.length;
    checkWhereText(this.#textChars, this.#limits);
    return texts;
  }
}

function clausePlan(value: BoundValue | undefined, filter: WhereFilter): ClausePlan | undefined {
  if (value?.from !== "object" || !isFixed(value.members.get("operator"))) return undefined;
  if (!("operands" in filter)) return comparedPlan(value.members, filter);
  const given = value.members.get("operands");
  const items = given?.from === "list" ? given.items : [given];
  const operands: ClausePlan[] = [];
  for (const [i, operand] of filter.operands.entries()) {
    const plan = clausePlan(items[i], operand);
    if (plan === undefined) return undefined;
    operands.push(plan);
  }
  return { kind: "combined", operator: filter.operator, operands };
}

function comparedPlan(members: ReadonlyMap<string, BoundValue>, clause: ComparedPath): ClausePlan | undefined {
  const field = VALUE_FIELDS.find((name) => (members.get(name)?.from ?? "nowhere") !== "nowhere");
  const given = field && members.get(field);
  if (given === undefined || !isFixed(members.get("path"))) return undefined;
  const { operator, path, value } = clause;
  if (value.kind === "boolean") return isFixed(given) ? { kind: "fixed", clause } : undefined;
  const places = value.kind === "geoRange" ? geoRangePlaces(given) : given.from === "list" ? given.items : [given];
  const literals: number[] = [];
  for (const place of places) {
    if (place?.from !== "literal" || !KINDS[value.kind].includes(place.kind)) return undefined;
    literals.push(place.index);
  }
  return { kind: "compared", operator, path, valueKind: value.kind, literals };
}

/** Latitude, longitude, distance. */
function geoRangePlaces(range: BoundValue): readonly (BoundValue | undefined)[] {
  const coordinates = memberOf(range, "geoCoordinates");
  return [
    memberOf(coordinates, "latitude"),
    memberOf(coordinates, "longitude"),
    memberOf(memberOf(range, "distance"), "max"),
  ];
}

function memberOf(value: BoundValue | undefined, name: string): BoundValue | undefined {
  return value?.from === "object" ? value.members.get(name) : undefined;
}

/** Whether a value is the same in every request of the template. */
function isFixed(value: BoundValue | undefined): boolean {
  if (value?.from === "list") return value.items.every(isFixed);
  return value?.from === "constant" || value?.from === "enum" || value?.from === "boolean";
}

const KINDS: Readonly<Record<Exclude<FilterValue["kind"], "boolean">, readonly LiteralKind[]>> = {
  int: [LiteralKind.int],
  number: [LiteralKind.int, LiteralKind.float],
  string: [LiteralKind.string],
  text: [LiteralKind.string],
  date: [LiteralKind.string],
  geoRange: [LiteralKind.int, LiteralKind.float],
};
