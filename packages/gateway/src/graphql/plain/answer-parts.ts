/** `data`, a member of it, a class, a row: what is deeper is one part. */
const LEVELS = 3;

/** The JSON of an executed request's data, in parts no longer than a row. */
export function* answerParts(value: unknown, levels = LEVELS): Generator<string, void> {
  if (levels === 0 || typeof value !== "object" || value === null) {
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
