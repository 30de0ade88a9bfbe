import { ShoalError } from "@shoal/model";
import { queryParameter, type RequestContent } from "../http/http-request.js";
import type { Route } from "../http/route.js";

/** Without one of these, or an escape that may hide one, there is nothing to look at. */
const SUSPICIOUS = /%|tenant|consistency_level|node_name|sort|order/;

const CONSISTENCY_LEVELS: readonly string[] = ["ONE", "QUORUM", "ALL"];

/** The same route, which fails on query parameters of today's interface that ask for what is not built (reference-today 5.1). */
export function withoutUnbuiltParameters(route: Route): Route {
  const { handle } = route;
  return {
    ...route,
    handle: (request) => {
      if (request.queryString !== "" && SUSPICIOUS.test(request.queryString))
        refuseUnbuiltParameters(request, route.path);
      return handle(request);
    },
  };
}

/** Of one copy each level of consistency reads and writes the same; the text of another one is known to clients. */
function refuseUnbuiltParameters(request: Pick<RequestContent, "queryString">, path: string): void {
  const level = queryParameter(request, "consistency_level");
  if (level !== undefined && !CONSISTENCY_LEVELS.includes(level)) {
    throw new ShoalError(
      "malformed",
      `unrecognized consistency level '${level.slice(0, SHOWN_CHARS_MAX)}', try one of the following: ['ONE', 'QUORUM', 'ALL']`,
    );
  }
  refuse(request, "tenant", "tenants");
  refuse(request, "node_name", "the choice of the node that answers");
  if (path !== "/v1/objects") return;
  refuse(request, "sort", "lists in the order of properties");
  refuse(request, "order", "lists in the order of properties");
}

function refuse(request: Pick<RequestContent, "queryString">, name: string, feature: string): void {
  const value = queryParameter(request, name);
  if (value === undefined) return;
  const shown = JSON.stringify(value.slice(0, SHOWN_CHARS_MAX));
  throw new ShoalError(
    "invalid",
    `${name} in query: ${shown} asks for ${feature}, which this server does not have: leave it out`,
  );
}

const SHOWN_CHARS_MAX = 100;
