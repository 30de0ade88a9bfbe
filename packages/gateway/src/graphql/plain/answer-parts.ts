/** `data`, a member of it, a class, a row: what is deeper is one part where there are no rows that a row refers to. */
const LEVELS = 3;

/** The JSON of an executed request's data, in parts no longer than a row without those that it refers to. */
export function* answerParts(value: unknown, levels = LEVELS): Generator<string, void> {
  if (typeof value !== "object" || value === null || (levels <= 0 && !holdsRows(value))) {
    yield JSON.stringify(value);
    return;
  }
  if (Array.isArray(value)) {
    yield "[";
    for (const [at, item] of value.entries()) {
      if (at > 0) yield ",";
      yield* answerParts(item, levels - 1);
    }
    yield "]";
    return;
  }
  let separator = "{";
  for (const [name, member] of Object.entries(value)) {
    yield `${separator}${JSON.stringify(name)}:`;
    yield* answerParts(member, levels - 1);
    separator = ",";
  }
  yield separator === "{" ? "{}" : "}";
}

/** A list of objects, or an object with such a list. */
function holdsRows(value: object): boolean {
  return isRows(value) || Object.values(value).some(isRows);
}

function isRows(value: unknown): boolean {
  return Array.isArray(value) && typeof value[0] === "object" && value[0] !== null;
}
