import { ShoalError } from "../errors/shoal-error.js";
import { describeValue, isUncheckedObject, printValue, type UncheckedObject } from "../objects/value-wording.js";
import { clauseText } from "./clause-text.js";
import { parseFilterPath } from "./parse-filter-path.js";
import { parseFilterValue, VALUE_FIELDS, type ValueField } from "./parse-filter-value.js";
import {
  COMBINE_OPERATORS,
  COMPARE_OPERATORS,
  type CombineOperator,
  type CompareOperator,
  type FilterValue,
  type WhereFilter,
} from "./where-filter.js";
import { checkWhereLimit, checkWhereText, DEFAULT_WHERE_LIMITS, type WhereLimits } from "./where-limits.js";

/**
 * Parses a clause as clients write it, in GraphQL and in REST bodies, once it is plain values: strings, numbers
 * (`JsonNumber` and bigint, too), booleans, lists and objects; `null` means absent, unknown members mean nothing. The
 * clause is about objects of `rootClass`, which no path names. Whether classes and properties exist is not looked at:
 * `checkWhere`, `checkWherePaths`. Fails with `invalid`; texts: reference-graphql 2.3, without the prefix
 * `could not extract filters: `.
 */
export function parseWhere(
  clause: unknown,
  rootClass: string,
  limits: WhereLimits = DEFAULT_WHERE_LIMITS,
): WhereFilter {
  return new WhereParser(rootClass, limits).clause(clause, 1);
}

const OPERATORS = [...COMBINE_OPERATORS, ...COMPARE_OPERATORS].join(", ");

class WhereParser {
  readonly #rootClass: string;
  readonly #limits: WhereLimits;
  #clauses = 0;
  #references = 0;
  #values = 0;
  #textChars = 0;

  constructor(rootClass: string, limits: WhereLimits) {
    this.#rootClass = rootClass;
    this.#limits = limits;
  }

  clause(clause: unknown, depth: number): WhereFilter {
    if (!isUncheckedObject(clause)) throw invalid(`a clause must be an object, got ${describeValue(clause)}`);
    this.#bound(depth, "filterDepthMax");
    this.#bound(++this.#clauses, "filterClausesMax");
    const operator = memberOf(clause, "operator");
    if (operator === undefined)
      throw invalid(`the operator is missing in clause ${clauseText(clause)}: it is one of ${OPERATORS}`);
    if (isOneOf(COMBINE_OPERATORS, operator)) return this.#combined(clause, operator, depth);
    if (isOneOf(COMPARE_OPERATORS, operator)) return this.#compared(clause, operator);
    throw invalid(`the operator '${printValue(operator)}' in clause '${clauseText(clause)}' is none of ${OPERATORS}`);
  }

  #combined(clause: UncheckedObject, operator: CombineOperator, depth: number): WhereFilter {
    if (memberOf(clause, "path") !== undefined) {
      throw invalid(
        `a 'path' is given in clause '${clauseText(clause)}'; this is not allowed for a ${operator} clause`,
      );
    }
    const operands = memberOf(clause, "operands");
    if (operands === undefined)
      throw invalid(`no operands are given in clause '${clauseText(clause)}': ${operator} needs a list of clauses`);
    if (!Array.isArray(operands)) throw invalid(`'operands' is no list in clause '${clauseText(clause)}'`);
    if (operands.length === 0)
      throw invalid(`the list of operands is empty in clause '${clauseText(clause)}': ${operator} needs at least one`);
    return { operator, operands: operands.map((operand) => this.clause(operand, depth + 1)) };
  }

  #compared(clause: UncheckedObject, operator: CompareOperator): WhereFilter {
    if (memberOf(clause, "operands") !== undefined) {
      throw invalid(
        `a 'operands' is given in clause '${clauseText(clause)}'; this is not allowed for a ${operator} clause`,
      );
    }
    const path = this.#path(clause);
    const field = givenField(clause);
    const value = parseFilterValue(clause, field);
    checkOperator(clause, operator, field, value);
    this.#values += value.values.length;
    this.#bound(this.#values, "filterValuesMax");
    if (value.kind === "string" || value.kind === "text") {
      for (const text of value.values) this.#textChars += text.length;
      checkWhereText(this.#textChars, this.#limits);
    }
    return { operator, path, value };
  }

  #path(clause: UncheckedObject): readonly string[] {
    const segments = memberOf(clause, "path");
    if (segments === undefined)
      throw invalid(`the path is missing in clause '${clauseText(clause)}': it is a list such as ["name"]`);
    if (!Array.isArray(segments)) throw invalid(`'path' is no list of strings in the filter '${clauseText(clause)}'`);
    this.#references += Math.floor(segments.length / 2);
    this.#bound(this.#references, "filterReferencesMax");
    const refuse = (reason: string) => invalid(`invalid 'path' field for filter '${clauseText(clause)}': ${reason}`);
    return parseFilterPath(segments, this.#rootClass, refuse);
  }

  #bound(count: number, limit: keyof WhereLimits): void {
    checkWhereLimit(count, this.#limits, limit);
  }
}

/** The one value field that is given. */
function givenField(clause: UncheckedObject): ValueField {
  let given: ValueField | undefined;
  for (const field of VALUE_FIELDS) {
    if (memberOf(clause, field) === undefined) continue;
    if (given !== undefined)
      throw invalid(`found two values, ${given} and ${field}, in clause '${clauseText(clause)}': a clause has one`);
    given = field;
  }
  if (given === undefined)
    throw invalid(`no value is given in clause '${clauseText(clause)}': it needs one of ${VALUE_FIELDS.join(", ")}`);
  return given;
}

/** Fails when a comparison by `operator` with such a value means nothing, whatever the property is. */
function checkOperator(
  clause: UncheckedObject,
  operator: CompareOperator,
  field: ValueField,
  value: FilterValue,
): void {
  const isSeveral = operator === "ContainsAny" || operator === "ContainsAll";
  if (value.values.length > 1 && !isSeveral) {
    throw invalid(
      `${value.values.length} values are given in clause '${clauseText(clause)}'; ` +
        `only ContainsAny and ContainsAll take several, ${operator} takes one`,
    );
  }
  const wanted = FIELDS_OF_OPERATORS[operator];
  const isFit = wanted === undefined ? field !== "valueGeoRange" : wanted.includes(field);
  if (isFit) return;
  const use = wanted === undefined ? "WithinGeoRange is the operator for it" : `use "${wanted.join('" or "')}" instead`;
  throw invalid(`operator ${operator} cannot use "${field}" in clause '${clauseText(clause)}', ${use}`);
}

const FIELDS_OF_OPERATORS: { readonly [Operator in CompareOperator]?: readonly ValueField[] } = {
  Like: ["valueString", "valueText"],
  WithinGeoRange: ["valueGeoRange"],
  IsNull: ["valueBoolean"],
};

function memberOf(clause: UncheckedObject, name: string): unknown {
  return Object.hasOwn(clause, name) ? (clause[name] ?? undefined) : undefined;
}

function isOneOf<T extends string>(names: readonly T[], name: unknown): name is T {
  return (names as readonly unknown[]).includes(name);
}

function invalid(message: string): ShoalError {
  return new ShoalError("invalid", message);
}
