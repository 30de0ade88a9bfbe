import {
  COMBINE_OPERATORS,
  COMPARE_OPERATORS,
  clauseText,
  isUncheckedObject,
  type Json,
  type JsonObject,
  quoteText,
  type RequestWarnings,
  ShoalError,
  type UncheckedObject,
  VALUE_FIELDS,
  withPrefix,
} from "@shoal/model";

const OPERATORS: readonly string[] = [...COMBINE_OPERATORS, ...COMPARE_OPERATORS];

/** Of where-filters as JSON, by their names in lower case. */
const MEMBERS: ReadonlyMap<string, string> = new Map(
  [
    ...["operator", "operands", "path", ...VALUE_FIELDS],
    ...["geoCoordinates", "latitude", "longitude", "distance", "max"],
  ].map((name) => [name.toLowerCase(), name]),
);

/** The clause with its members under their names: bodies may write them in any case (reference-rest 1.4). */
export function withMemberNames(clause: unknown): unknown {
  if (Array.isArray(clause)) return clause.map(withMemberNames);
  if (!isUncheckedObject(clause)) return clause;
  const members = Object.entries(clause).flatMap(([key, value]) => {
    const name = MEMBERS.get(key.toLowerCase()) ?? key;
    // Of several spellings the right one counts.
    return name !== key && Object.hasOwn(clause, name) ? [] : [[name, withMemberNames(value)] as const];
  });
  return Object.fromEntries(members);
}

/** Tells of members of a clause, and of what is in it, that no clause has. */
export function warnOfClause(clause: unknown, section: string, warnings: RequestWarnings): void {
  if (Array.isArray(clause)) for (const one of clause) warnOfClause(one, `${section}[]`, warnings);
  if (!isUncheckedObject(clause)) return;
  for (const [key, value] of Object.entries(clause)) {
    const name = MEMBERS.get(key.toLowerCase());
    if (name === undefined) warnings.addUnknown(section, key, () => MEMBERS.values());
    else warnOfClause(value, `${section}.${name}`, warnings);
  }
}

/** Fails with `invalid` on an operator that there is not. */
export function checkOperators(clause: unknown): void {
  if (!isUncheckedObject(clause)) return;
  const { operator, operands } = clause;
  if (typeof operator === "string" && !OPERATORS.includes(operator)) {
    throw new ShoalError("invalid", `the operator must be one of ${OPERATORS.join(", ")}, got ${quoteText(operator)}`);
  }
  if (Array.isArray(operands)) for (const operand of operands) checkOperators(operand);
}

/** Fails with `invalid` on a clause whose members do not go together, in the words of reference-graphql 7.2. */
export function checkMembers(clause: unknown): void {
  if (!isUncheckedObject(clause)) return;
  const { operator } = clause;
  if (typeof operator !== "string") return;
  if ((COMBINE_OPERATORS as readonly string[]).includes(operator)) checkCombination(operator, clause);
  else checkComparison(operator, clause);
}

function checkCombination(operator: string, clause: UncheckedObject): void {
  const { path, operands } = clause;
  const elsewhere = "or switch to compare operator (eg. Equal, NotEqual, etc.)";
  if (isGiven(path) && !isEmptyList(path)) {
    throw refused(`operator '${operator}' not compatible with field 'path', remove 'path' ${elsewhere}`);
  }
  if (valuesOf(clause).length > 0) {
    throw refused(`operator '${operator}' not compatible with field 'value<Type>', remove value field ${elsewhere}`);
  }
  if (!isGiven(operands) || isEmptyList(operands)) {
    throw refused(`operator '${operator}', but no operands set - add at least one operand`);
  }
  if (!Array.isArray(operands)) return;
  for (const [at, operand] of operands.entries()) {
    try {
      checkMembers(operand);
    } catch (thrown) {
      throw withPrefix(`operand ${at}: `, thrown);
    }
  }
}

function checkComparison(operator: string, clause: UncheckedObject): void {
  if (!isGiven(clause.path) || isEmptyList(clause.path)) {
    throw refused("field 'path': must have at least one element");
  }
  const values = valuesOf(clause);
  if (values.length === 0) throw refused(`got operator '${operator}', but no value<Type> field set`);
  if (values.length > 1) throw refused(`found more than one values the clause '${clauseText(clause)}'`);
  const { valueGeoRange } = clause;
  if (isUncheckedObject(valueGeoRange)) checkGeoRange(valueGeoRange);
}

function checkGeoRange({ distance, geoCoordinates }: UncheckedObject): void {
  if (!isGiven(distance)) throw refused("valueGeoRange: field 'distance' must be set");
  const max = isUncheckedObject(distance) ? (distance.max ?? 0) : undefined;
  // What is not a number at all is named by its type.
  if (typeof max === "number" && max <= 0) {
    throw refused("valueGeoRange: field 'distance.max' must be a positive number");
  }
  if (!isGiven(geoCoordinates)) throw refused("valueGeoRange: field 'geoCoordinates' must be set");
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

function valuesOf(clause: UncheckedObject): readonly string[] {
  return VALUE_FIELDS.filter((name) => isGiven(clause[name]));
}

const refused = (reason: string): ShoalError => new ShoalError("invalid", reason);

/** A clause that was parsed, as records show it: `operands` and `path` are null where there are none (reference-rest 10.1). */
export function shownFilter(clause: unknown): JsonObject {
  const given = isUncheckedObject(clause) ? (clause as JsonObject) : {};
  const { operands, operator, path, ...values } = given;
  const shown: JsonObject = {
    operands: Array.isArray(operands) ? (operands as readonly Json[]).map(shownFilter) : null,
    operator: operator ?? null,
    path: path ?? null,
  };
  const kept = Object.entries(values).filter(([name, value]) => name.startsWith("value") && value !== null);
  return { ...shown, ...Object.fromEntries(kept) };
}
