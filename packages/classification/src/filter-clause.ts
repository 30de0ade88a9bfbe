import { COMBINE_OPERATORS, COMPARE_OPERATORS, isUncheckedObject, ShoalError } from "@shoal/model";

const OPERATORS: readonly string[] = [...COMBINE_OPERATORS, ...COMPARE_OPERATORS];

/** Of where-filters as JSON, by their names in lower case. */
const MEMBERS: ReadonlyMap<string, string> = new Map(
  [
    ...["operator", "operands", "path", "valueInt", "valueNumber", "valueBoolean", "valueString", "valueText"],
    ...["valueDate", "valueGeoRange", "geoCoordinates", "latitude", "longitude", "distance", "max"],
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

/** Fails with `invalid` on an operator that there is not. */
export function checkOperators(clause: unknown): void {
  if (!isUncheckedObject(clause)) return;
  const { operator, operands } = clause;
  if (typeof operator === "string" && !OPERATORS.includes(operator)) {
    throw new ShoalError("invalid", `operator in body should be one of [${OPERATORS.join(" ")}], got '${operator}'`);
  }
  if (Array.isArray(operands)) for (const operand of operands) checkOperators(operand);
}

/** Fails with `invalid` on a comparison without a value, in the words of reference-rest 10.1. */
export function checkValues(clause: unknown): void {
  if (!isUncheckedObject(clause)) return;
  const { operator, operands } = clause;
  if (Array.isArray(operands)) for (const operand of operands) checkValues(operand);
  const isComparison = typeof operator === "string" && (COMPARE_OPERATORS as readonly string[]).includes(operator);
  const isSet = ([name, value]: [string, unknown]) => name.startsWith("value") && value !== null;
  if (!isComparison || Object.entries(clause).some(isSet)) return;
  throw new ShoalError("invalid", `got operator '${operator}', but no value<Type> field set`);
}
