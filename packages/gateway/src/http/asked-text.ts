import { isSecret, redactText } from "@shoal/service-runtime";
import { type FieldNode, Kind, parse, type SelectionNode } from "graphql";
import type { Exchange } from "./exchange.js";

/** Larger bodies are not read again for a log line. */
const READ_BYTES_MAX = 256 * 1024;
const CLASSES_MAX = 8;
const TARGET_CHARS_MAX = 512;

/** A list of numbers, a vector most of the time. No two ways to match: it is read once. */
const NUMBERS = /\[[-+\d.eE,\s]{24,}\]/g;

/** What a request asked for, for a line of the log: bounded, without vectors and secrets. */
export interface Asked {
  /** Path and query string as they were sent, but for secrets. */
  readonly target: string;
  readonly classes?: readonly string[];
  /** Text of a GraphQL query. */
  readonly query?: string;
}

export function askedText({ request, served, params, queryString, body }: Exchange): Asked {
  const target = targetText(request.url ?? "");
  if (served === undefined) return { target };
  const inQuery = new URLSearchParams(queryString).get("class");
  const named = inQuery ?? (served.route.path.startsWith("/v1/schema/{") ? params[0] : undefined);
  if (named !== undefined) return { target, classes: [redactText(named, 256)] };
  const members = membersOf(body);
  if (typeof members?.query === "string" && served.route.path === "/v1/graphql") {
    const classes = classesOf(members.query);
    return { target, query: shortened(members.query), ...(classes.length === 0 ? {} : { classes }) };
  }
  return typeof members?.class === "string" ? { target, classes: [redactText(members.class, 256)] } : { target };
}

/** A request's target, bounded; values of query parameters that are secrets go, however their names are written. */
export function targetText(target: string): string {
  const at = target.indexOf("?");
  if (at === -1) return redactText(target, TARGET_CHARS_MAX);
  const pairs = target.slice(at + 1, at + 1 + 4 * TARGET_CHARS_MAX).split("&");
  const safe = pairs.map((pair) => {
    const [name = ""] = [...new URLSearchParams(pair).keys()];
    return isSecret(name) ? `${pair.split("=", 1)[0]}=[redacted]` : pair;
  });
  return redactText(`${target.slice(0, at)}?${safe.join("&")}`, TARGET_CHARS_MAX);
}

function membersOf(body: Buffer | undefined): Readonly<Record<string, unknown>> | undefined {
  if (body === undefined || body.length === 0 || body.length > READ_BYTES_MAX) return undefined;
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function shortened(query: string): string {
  const bounded = query.length > READ_BYTES_MAX ? query.slice(0, READ_BYTES_MAX) : query;
  const cut = bounded.replace(NUMBERS, (list) => `[${list.split(/[\s,]+/).length} numbers]`);
  return redactText(cut.replace(/\s+/g, " ").trim());
}

/** Classes that `Get`, `Aggregate` and the like name, by the text alone. */
function classesOf(query: string): readonly string[] {
  const classes = new Set<string>();
  try {
    const { definitions } = parse(query, { noLocation: true, maxTokens: 20_000 });
    for (const definition of definitions) {
      if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
      for (const root of fieldsOf(definition.selectionSet.selections)) {
        if (root.name.value.startsWith("__")) continue;
        for (const field of fieldsOf(root.selectionSet?.selections ?? [])) classes.add(field.name.value);
      }
    }
  } catch {
    // No GraphQL: there are no classes in it.
  }
  return [...classes].slice(0, CLASSES_MAX).map((name) => redactText(name, 256));
}

function fieldsOf(selections: readonly SelectionNode[]): readonly FieldNode[] {
  return selections.filter((selection) => selection.kind === Kind.FIELD);
}
