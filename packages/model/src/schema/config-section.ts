import * as z from "zod";
import { ShoalError } from "../errors/shoal-error.js";
import { int64Of } from "../objects/json-number.js";
import { isUncheckedObject, typeName } from "../objects/value-wording.js";

const NAME = "{name}";

/** A member of a config section: an integer from `min` to `max`. */
export function configInteger(min: number, max: number) {
  return z
    .unknown()
    .transform((value, context) => {
      const number = int64Of(value);
      const problem =
        number === "no number"
          ? wrongType("number", value)
          : typeof number !== "number"
            ? `${NAME}: strconv.ParseInt: parsing "${value}": ${number}`
            : number < min || number > max
              ? `${NAME} must be from ${min} to ${max}, got ${value}`
              : undefined;
      if (problem === undefined) return Number(number);
      context.addIssue({ code: "custom", message: problem, input: value });
      return z.NEVER;
    })
    .meta({ type: "integer", format: "int64", minimum: min, maximum: max });
}

/** A member of a config section: true or false. */
export function configBoolean() {
  return z.boolean({ error: ({ input }) => wrongType("bool", input) });
}

/** A member of a config section: a text of which only one value is supported; which one is checked later. */
export function configWord(only: string) {
  return z.string({ error: ({ input }) => wrongType("string", input) }).meta({ enum: [only] });
}

/**
 * A free-form config section as its schema says, in the words of the reference's config parsers. Member names are exact,
 * unknown ones are dropped, null counts as absent, and a wrong type is refused, never taken for a default. Fails with
 * `invalid`; `prefix` begins every message.
 */
export function readConfigSection<Schema extends z.ZodObject>(
  schema: Schema,
  section: unknown,
  prefix: string,
): z.output<Schema> {
  const absent = section === undefined || section === null;
  if (!absent && !isUncheckedObject(section)) throw new ShoalError("invalid", `${prefix}input must be a non-nil map`);
  const members: Record<string, unknown> = {};
  for (const name of Object.keys(schema.shape)) {
    const value = !absent && Object.hasOwn(section, name) ? section[name] : undefined;
    if (value !== undefined && value !== null) members[name] = value;
  }
  const result = schema.safeParse(members);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new ShoalError("invalid", prefix + (issue?.message ?? "").replace(NAME, String(issue?.path[0])));
}

function wrongType(wanted: string, value: unknown): string {
  return `field "${NAME}" must be of type ${wanted}, got: ${typeName(value)}`;
}
