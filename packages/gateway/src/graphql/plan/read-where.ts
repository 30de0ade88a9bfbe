import {
  type ClassLookup,
  type checkWhere,
  JsonNumber,
  parseWhere,
  VALUE_FIELDS,
  type WhereFilter,
  type WhereLimits,
  withPrefix,
} from "@shoal/model";
import { type FieldNode, Kind, type ValueNode } from "graphql";

/** What reading a `where` argument needs. */
export interface WhereReading {
  readonly classOf: ClassLookup;
  readonly limits: WhereLimits;
}

/** What the message of a filter begins with. */
const WHERE_PREFIX = "invalid 'where' filter: ";

/**
 * The filter of a coerced `where` argument of a field of this class, parsed and checked; undefined when there is none. `node` is the
 * field that it stands in. Fails with `invalid`.
 */
export function readWhere(
  where: unknown,
  node: FieldNode | undefined,
  className: string,
  { classOf, limits }: WhereReading,
  check: typeof checkWhere,
): WhereFilter | undefined {
  if (where === undefined || where === null) return undefined;
  const value = node?.arguments?.find(({ name }) => name.value === "where")?.value;
  try {
    const written = value === undefined ? where : withWrittenIntegers(where, value);
    const filter = parseWhere(clauseOf(written), className, limits);
    check(filter, className, classOf);
    return filter;
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

/**
 * A coerced value with the integers beyond 2^53 that stand in the text as they are written there, so that messages show them
 * so. Those of variables stay the nearest float64.
 */
function withWrittenIntegers(coerced: unknown, node: ValueNode): unknown {
  if (Array.isArray(coerced)) {
    // One value stands for a list of it.
    const nodes = node.kind === Kind.LIST ? node.values : [node];
    return coerced.map((item, i) => (nodes[i] === undefined ? item : withWrittenIntegers(item, nodes[i])));
  }
  if (node.kind === Kind.INT) {
    return typeof coerced === "number" && !Number.isSafeInteger(coerced) ? new JsonNumber(node.value) : coerced;
  }
  if (node.kind !== Kind.OBJECT || typeof coerced !== "object" || coerced === null) return coerced;
  const members: Record<string, unknown> = { ...coerced };
  for (const { name, value } of node.fields) {
    if (Object.hasOwn(members, name.value)) members[name.value] = withWrittenIntegers(members[name.value], value);
  }
  return members;
}
