import type { GraphQlHandler } from "./graphql/handler.js";
import type { Route } from "./http/route.js";

/** `POST /v1/graphql`: the one place where GraphQL meets HTTP. */
export function graphQlRoute(handler: GraphQlHandler): Route {
  return {
    method: "POST",
    path: "/v1/graphql",
    body: "json",
    access: { verb: "get", resource: "traversal/*" },
    timeout: "request",
    handle: ({ body, context }) => handler.execute(body, context),
  };
}
