import {
  type ClassLookup,
  checkWhere,
  checkWherePaths,
  parseWhere,
  VALUE_FIELDS,
  type WhereFilter,
  type WhereLimits,
  withoutIdAlias,
  withPrefix,
} from "@shoal/model";

/** What reading a `where` argument needs. */
export interface WhereReading {
  readonly classOf: ClassLookup;
  readonly limits: WhereLimits;
}

/** What the message of a filter begins with. */
export const WHERE_PREFIX = "invalid 'where' filter: ";

/**
 * The filter of a coerced `where` argument of `Get.<Class>`, parsed and checked; undefined when there is none. Fails with
 * `invalid`.
 */
export function readGetWhere(where: unknown, className: string, reading: WhereReading): WhereFilter | undefined {
  const filter = parsed(where, className, reading.limits);
  if (filter !== undefined) checked(() => checkWhere(filter, className, reading.classOf));
  return filter;
}

/** The same of `Aggregate.<Class>`, which does not validate values and knows `_id`. */
export function readAggregateWhere(where: unknown, className: string, reading: WhereReading): WhereFilter | undefined {
  const filter = parsed(where, className, reading.limits);
  if (filter === undefined) return undefined;
  checked(() => checkWherePaths(filter, className, reading.classOf));
  return withoutIdAlias(filter);
}

function parsed(where: unknown, className: string, limits: WhereLimits): WhereFilter | undefined {
  if (where === undefined || where === null) return undefined;
  try {
    return parseWhere(clauseOf(where), className, limits);
  } catch (thrown) {
    throw withPrefix(WHERE_PREFIX, thrown);
  }
}

function checked(check: () => void): void {
  try {
    check();
  } catch (thrown) {
    throw withPrefix(WHERE_PREFIX, thrown);
  }
}

/**
 * A coerced clause as it was written: GraphQL made a list of one of every value, and none of the values of variables.
 * Bounded by the depth of the text and of the variables.
 */
function clauseOf(coerced: unknown): unknown {
  if (typeof coerced !== "object" || coerced === null) return coerced;
  const clause: Record<string, unknown> = { ...coerced };
  for (const field of VALUE_FIELDS) {
    const value = clause[field];
    if (Array.isArray(value) && value.length === 1) clause[field] = value[0];
  }
  const { path, operands } = clause;
  if (typeof path === "string") clause.path = [path];
  if (Array.isArray(operands)) clause.operands = operands.map(clauseOf);
  else if (operands !== undefined && operands !== null) clause.operands = [clauseOf(operands)];
  return clause;
}
