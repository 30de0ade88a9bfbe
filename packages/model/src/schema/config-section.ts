import * as z from "zod";
import { ShoalError } from "../errors/shoal-error.js";
import { int64Of, JsonNumber } from "../objects/json-number.js";
import { describeValue, isUncheckedObject } from "../objects/value-wording.js";

const NAME = "{name}";

/** A member of a config section: an integer from `min` to `max`. */
export function configInteger(min: number, max: number) {
  return z
    .unknown()
    .transform((value, context) => {
      const number = int64Of(value);
      if (typeof number === "number" && number >= min && number <= max) return number;
      const rule = `an integer from ${min} to ${max}, without fraction or exponent`;
      context.addIssue({ code: "custom", message: wrongType(rule, value), input: value });
      return z.NEVER;
    })
    .meta({ type: "integer", format: "int64", minimum: min, maximum: max });
}

/** A member of a config section: a number from `min` to `max`. */
export function configNumber(min: number, max: number) {
  return z
    .unknown()
    .transform((value, context) => {
      const number = value instanceof JsonNumber ? value.toNumber() : value;
      if (typeof number === "number" && number >= min && number <= max) return number;
      context.addIssue({ code: "custom", message: wrongType(`a number from ${min} to ${max}`, value), input: value });
      return z.NEVER;
    })
    .meta({ type: "number", minimum: min, maximum: max });
}

/** A member of a config section: true or false. */
export function configBoolean() {
  return z.boolean({ error: ({ input }) => wrongType("true or false", input) });
}

/** A member of a config section: a text of which only one value is supported; which one is checked later. */
export function configWord(only: string) {
  return z.string({ error: ({ input }) => wrongType("a string", input) }).meta({ enum: [only] });
}

/**
 * A free-form config section as its schema says. Member names are exact, unknown ones are dropped, null counts as absent,
 * and a wrong type is refused, never taken for a default. Fails with `invalid`; `sectionName` is for messages.
 */
export function readConfigSection<Schema extends z.ZodObject>(
  schema: Schema,
  section: unknown,
  sectionName: string,
): z.output<Schema> {
  const absent = section === undefined || section === null;
  if (!absent && !isUncheckedObject(section)) {
    throw new ShoalError("invalid", `${sectionName} must be an object, got ${describeValue(section)}`);
  }
  const members: Record<string, unknown> = {};
  for (const name of Object.keys(schema.shape)) {
    const value = !absent && Object.hasOwn(section, name) ? section[name] : undefined;
    if (value !== undefined && value !== null) members[name] = value;
  }
  const result = schema.safeParse(members);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new ShoalError("invalid", (issue?.message ?? "").replace(NAME, `${sectionName}.${String(issue?.path[0])}`));
}

function wrongType(wanted: string, value: unknown): string {
  return `${NAME} must be ${wanted}, got ${describeValue(value)}`;
}
