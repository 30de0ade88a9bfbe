import { ShoalError } from "@shoal/model";
import { CONSISTENCY_LEVEL, type HttpRequest, lastValue } from "../http/http-request.js";
import type { Route } from "../http/route.js";
import type { Operation } from "./openapi/operation.js";

/** What a parameter of today's interface asks for that this server does not have. */
interface UnbuiltParameter {
  readonly feature: string;
  /** The only path that has it there; absent: all that are about data. */
  readonly path?: string;
}

/**
 * Parameters of today's interface (reference-today 5.1, 5.10) that are refused, since whoever sends one would take the response for
 * another one. What an operation does have stands in its description (`openapi/`).
 */
const UNBUILT: ReadonlyMap<string, UnbuiltParameter> = new Map([
  ["tenant", { feature: "tenants" }],
  ["node_name", { feature: "the choice of the node that answers" }],
  ["sort", { feature: "lists in the order of properties", path: "/v1/objects" }],
  ["order", { feature: "lists in the order of properties", path: "/v1/objects" }],
  ["shardName", { feature: "the choice of a shard", path: "/v1/nodes" }],
]);

const CONSISTENCY_LEVELS: readonly string[] = ["ONE", "QUORUM", "ALL"];

/** The token (RFC 6750, 2.3) belongs to no operation. */
const TOKEN = "access_token";

/**
 * The same route, which warns of query parameters that its operation does not have, and fails on those that ask for what is not
 * built.
 */
export function withCheckedParameters(route: Route, operation: Pick<Operation, "query"> | undefined): Route {
  const known = new Set([...Object.keys(operation?.query?.shape ?? {}), TOKEN]);
  return { ...route, checkQuery: (request) => checkParameters(request, known, route) };
}

function checkParameters(request: HttpRequest, known: ReadonlySet<string>, route: Route): void {
  const { queryString } = request;
  // Once for all parameters: whoever sends thousands of them would have each one read the whole query.
  let values: URLSearchParams | undefined;
  const valueNamed = (name: string): string | undefined => {
    values ??= new URLSearchParams(queryString);
    return lastValue(values, name);
  };
  const seen = new Set<string>();
  for (let start = 0; start < queryString.length; ) {
    const next = queryString.indexOf("&", start);
    const end = next === -1 ? queryString.length : next;
    const equals = queryString.indexOf("=", start);
    const written = queryString.slice(start, equals === -1 || equals > end ? end : equals);
    start = end + 1;
    if (written === "" || known.has(written) || seen.has(written)) continue;
    seen.add(written);
    const name = /[%+]/.test(written) ? decoded(written) : written;
    if (!known.has(name) && !isTaken(name, valueNamed, route)) request.warnings.addParameter(name, () => known);
  }
}

function decoded(name: string): string {
  const [first = ""] = new URLSearchParams(name).keys();
  return first;
}

/** Whether a parameter that the operation does not have asks for nothing. Fails on one that asks for what is not built. */
function isTaken(
  name: string,
  valueNamed: (name: string) => string | undefined,
  { access, path }: Pick<Route, "access" | "path">,
): boolean {
  // What the instance says of itself is no data.
  if (typeof access === "string") return false;
  if (name === CONSISTENCY_LEVEL) {
    refuseUnknownLevel(valueNamed(name));
    return true;
  }
  const unbuilt = UNBUILT.get(name);
  if (unbuilt === undefined || (unbuilt.path ?? path) !== path) return false;
  const value = valueNamed(name);
  if (value === undefined) return true;
  const shown = JSON.stringify(value.slice(0, SHOWN_CHARS_MAX));
  const message = `${name} in query: ${shown} asks for ${unbuilt.feature}, which this server does not have: leave it out`;
  throw new ShoalError("invalid", message);
}

/** The text is known to clients. */
function refuseUnknownLevel(level: string | undefined): void {
  if (level === undefined || CONSISTENCY_LEVELS.includes(level)) return;
  throw new ShoalError(
    "malformed",
    `unrecognized consistency level '${level.slice(0, SHOWN_CHARS_MAX)}', try one of the following: ['ONE', 'QUORUM', 'ALL']`,
  );
}

const SHOWN_CHARS_MAX = 100;
