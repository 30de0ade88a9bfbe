import { type ObjectId, parseObjectId, quoteText, type RequestWarnings, ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { Principal } from "../auth/access.js";

/** What a client sent: matched, the body complete and unpacked. */
export interface RequestContent {
  /** Decoded path parameters, in the order of the template. */
  readonly params: readonly string[];
  /** The query string without `?`, not decoded; empty when there is none. */
  readonly queryString: string;
  /** Empty when the client sent none, or the route takes none. */
  readonly body: Buffer;
}

/** A request as a handler sees it. */
export interface HttpRequest extends RequestContent {
  /** Who asks; `anonymous` on open routes. */
  readonly principal: Principal;
  readonly context: RequestContext;
  /** Called with what of the request has no effect; the response's headers and the log say it. */
  readonly warnings: RequestWarnings;
}

/**
 * The last value of a query parameter (of repeated ones the last wins); undefined when it is absent or empty, which
 * count as the same.
 */
export function queryParameter(request: Pick<RequestContent, "queryString">, name: string): string | undefined {
  if (request.queryString === "") return undefined;
  return lastValue(new URLSearchParams(request.queryString), name);
}

/** The query parameter by which a request says how many copies of a shard it is about. */
export const CONSISTENCY_LEVEL = "consistency_level";

/** Whether reads go to primaries: those of all levels but `ONE`, which is what counts where none is given. */
export function readsPrimary(queryString: string): boolean {
  const level = queryParameter({ queryString }, CONSISTENCY_LEVEL);
  return level === "QUORUM" || level === "ALL";
}

/** As {@link queryParameter}, of a query that has been read. */
export function lastValue(query: URLSearchParams, name: string): string | undefined {
  return query.getAll(name).at(-1) || undefined;
}

/** Whether the last value of a query parameter is empty, where that is not the same as absent. */
export function isEmptyParameter(request: Pick<RequestContent, "queryString">, name: string): boolean {
  if (request.queryString === "") return false;
  return new URLSearchParams(request.queryString).getAll(name).at(-1) === "";
}

/** The object id that is the first parameter of the path. Fails with `invalid` when it is none. */
export function pathId({ params }: Pick<RequestContent, "params">): ObjectId {
  const [text = ""] = params;
  const id = parseObjectId(text);
  if (id === undefined) throw new ShoalError("invalid", `the id in the path must be a UUID, got ${quoteText(text)}`);
  return id;
}
