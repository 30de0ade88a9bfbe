import { int64Of, JsonNumber, parseObjectId } from "@shoal/model";
import { type EnabledModules, NO_ENABLED_MODULES } from "@shoal/module-api";
import * as z from "zod";
import { parseInclude } from "../include.js";

const UUID_EXAMPLE = "36ddd591-2dee-4e7e-a3cc-eb86d30a4303";

/** A uuid as the server reads it: any version, in any case, with or without its dashes. */
export const OBJECT_ID = z
  .custom<string>((value) => typeof value === "string" && parseObjectId(value) !== undefined)
  .meta({ type: "string", format: "uuid", examples: [UUID_EXAMPLE] });

const INT64_PARAMETER = z
  .custom<string>((value) => typeof value === "string" && typeof int64Of(literal(value)) === "number")
  .meta({ type: "integer", format: "int64", minimum: 0 });

function literal(text: string): unknown {
  return /^[+-]?\d{1,19}$/.test(text) ? new JsonNumber(text.replace("+", "")) : undefined;
}

/** `include` of the operations that answer objects (reference-rest 3.3). */
function includeParameter(modules: EnabledModules) {
  const added = modules.all.flatMap(({ additionalProperties }) => additionalProperties ?? []);
  const words = ["vector", "classification", ...added.flatMap(({ includeNames = [] }) => includeNames)];
  const word = [...new Set(words)].join("|");
  return z
    .custom<string>((value) => typeof value === "string" && includes(value, modules))
    .meta({
      type: "string",
      pattern: `^(${word})(,(${word}))*$`,
      description:
        "What is shown beside the properties: `vector`, `classification`, or both with a comma between; also what modules " +
        "add.",
      examples: ["vector"],
    });
}

function includes(list: string, modules: EnabledModules): boolean {
  try {
    parseInclude(list, modules);
    return true;
  } catch {
    return false;
  }
}

/** Query parameters of the operations that answer one object. */
export function objectQuery(modules: EnabledModules) {
  return z.object({ include: includeParameter(modules).optional() });
}

/** Query parameters of `GET /v1/objects`. An empty one counts as absent, but for `after`. */
export const OBJECT_LIST_QUERY = z.object({
  class: z.string().optional().describe("Only objects of this class."),
  limit: INT64_PARAMETER.optional().describe("Most objects of the page. Default: `QUERY_DEFAULTS_LIMIT`."),
  offset: INT64_PARAMETER.optional().describe("Objects left out at the beginning. Not together with `after`."),
  after: z
    .union([OBJECT_ID, z.literal("")])
    .optional()
    .describe(
      "Only with `class`: the page goes on behind this id, in the order of ids; an empty one begins with the first. " +
        "It is exact even when that object is gone.",
    ),
  include: includeParameter(NO_ENABLED_MODULES).optional(),
});

/** The same with the words of modules. */
export function objectListQuery(modules: EnabledModules) {
  return OBJECT_LIST_QUERY.extend(objectQuery(modules).shape);
}

/** What the parameters in the paths are, by name. */
export const PATH_PARAMETERS: ReadonlyMap<string, { readonly schema: z.ZodType; readonly description: string }> =
  new Map([
    ["id", { schema: OBJECT_ID, description: "The object's id: a uuid, its dashes may be left out." }],
    ["class", { schema: z.string().meta({ examples: ["Article"] }), description: "Name of a class, as it is stored." }],
    [
      "property",
      { schema: z.string().meta({ examples: ["hasAuthor"] }), description: "Name of a reference property." },
    ],
    ["classification", { schema: z.string(), description: "The id that the start of the classification answered." }],
    ["role", { schema: z.string().meta({ examples: ["reader"] }), description: "Name of a role." }],
    ["user", { schema: z.string().meta({ examples: ["ann"] }), description: "Name of a user, percent-encoded." }],
    ["group", { schema: z.string().meta({ examples: ["/ops"] }), description: "Name of a group, percent-encoded." }],
    [
      "userType",
      { schema: z.enum(["db", "oidc"]), description: "Who vouches for the name: this server or an issuer." },
    ],
    ["groupType", { schema: z.enum(["oidc"]), description: "Where groups come from: tokens." }],
    ["concept", { schema: z.string().meta({ examples: ["car"] }), description: "A word, or several in camel case." }],
  ]);
