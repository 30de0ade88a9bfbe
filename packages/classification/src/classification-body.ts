import {
  decodeBody,
  isUncheckedObject,
  NAME_CHARS_MAX,
  parseObjectId,
  quoteText,
  type RequestWarnings,
  ShoalError,
  warnOfUnknown,
} from "@shoal/model";
import * as z from "zod";
import { KNN, ZEROSHOT } from "./classification-request.js";
import { checkOperators, warnOfClause, withMemberNames } from "./filter-clause.js";

const WHERE = z.unknown().optional().meta({
  type: "object",
  description: "A where-filter: `path`, `operator` and a value, or `operator` and `operands`.",
});

/** The body of "start a classification" (specification, "Classification"). */
export const CLASSIFICATION_BODY = z
  .object({
    type: z.string().optional().describe("`knn`, `zeroshot`, or a type that a module brings. Absent means `knn`."),
    class: z.string().optional().describe("The class whose objects are classified."),
    classifyProperties: z.array(z.string()).optional().describe("Reference properties that are to be set."),
    basedOnProperties: z
      .array(z.string())
      .optional()
      .describe("One `text` property. `zeroshot` needs none. What counts for `knn` is the whole object's vector."),
    settings: z.unknown().optional().meta({ type: "object", description: "Of the type; `knn`: `k`, 3 when absent." }),
    filters: z
      .object({ sourceWhere: WHERE, trainingSetWhere: WHERE, targetWhere: WHERE })
      .meta({ id: "ClassificationFilters" })
      .optional(),
    id: z.string().optional().describe("Ignored; a uuid."),
    status: z.string().optional().describe("Ignored; `running`, `completed` or `failed`."),
    error: z.string().optional().describe("Ignored."),
    meta: z.unknown().optional().meta({ type: "object", description: "Ignored." }),
  })
  .meta({ id: "ClassificationRequest", required: ["class", "classifyProperties"] });

/** Settings of types that need no module. */
const SETTINGS: ReadonlyMap<string, readonly string[]> = new Map([
  [KNN, ["k"]],
  [ZEROSHOT, []],
]);

/** They are stored as they came where nobody knows the type (reference-rest 10.1). */
const SETTINGS_CHARS_MAX = 4_096;

export type ClassificationBody = z.output<typeof CLASSIFICATION_BODY>;

const STATUSES: readonly string[] = ["running", "completed", "failed"];

/**
 * The body with its members under their names; unknown ones are reported to `warnings`. Fails with `malformed`, or with `invalid` on words that are none
 * of their list, and on what is longer than it may be: all of it is stored.
 */
export function readClassificationBody(body: unknown, warnings?: RequestWarnings): ClassificationBody {
  const read = decodeBody(CLASSIFICATION_BODY, body);
  if (warnings !== undefined) {
    warnOfUnknown(CLASSIFICATION_BODY, body, warnings);
    for (const [name, clause] of Object.entries(read.filters ?? {})) warnOfClause(clause, `filters.${name}`, warnings);
    const known = SETTINGS.get(read.type || KNN);
    if (known !== undefined) warnOfSettings(read.settings, known, warnings);
  }
  checkBounds(read);
  const { id = "", status = "", filters } = read;
  if (id !== "" && parseObjectId(id) === undefined) {
    throw new ShoalError("invalid", `member 'id' must be a UUID, got ${quoteText(id)}`);
  }
  if (status !== "" && !STATUSES.includes(status)) {
    throw new ShoalError("invalid", `member 'status' must be one of ${STATUSES.join(", ")}, got ${quoteText(status)}`);
  }
  if (filters === undefined) return read;
  const named = Object.entries(filters).map(([name, clause]) => [name, withMemberNames(clause)] as const);
  for (const [, clause] of named) checkOperators(clause);
  return { ...read, filters: Object.fromEntries(named) };
}

/** Settings have their very names, in no other case. */
export function warnOfSettings(settings: unknown, known: readonly string[], warnings: RequestWarnings): void {
  if (!isUncheckedObject(settings)) return;
  for (const name of Object.keys(settings))
    if (!known.includes(name)) warnings.addUnknown("settings", name, () => known);
}

function checkBounds({ type = "", settings, classifyProperties = [] }: ClassificationBody): void {
  checkLength("'type'", type.length, NAME_CHARS_MAX, "characters");
  const json = settings === undefined ? "" : JSON.stringify(settings);
  checkLength("'settings'", json.length, SETTINGS_CHARS_MAX, "characters as JSON");
  const names = new Set<string>();
  for (const name of classifyProperties) {
    if (names.has(name)) {
      throw new ShoalError("invalid", `member 'classifyProperties' has ${quoteText(name)} twice`);
    }
    names.add(name);
  }
}

function checkLength(member: string, length: number, max: number, unit: string): void {
  if (length > max) {
    throw new ShoalError("invalid", `member ${member} has ${length} ${unit}, at most ${max} are allowed`);
  }
}
