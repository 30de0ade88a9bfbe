import type { GraphQlHandler } from "./graphql/handler.js";
import type { Route } from "./http/route.js";

/** `POST /v1/graphql`: the place where GraphQL meets HTTP, with its batch. */
export function graphQlRoute(handler: GraphQlHandler): Route {
  return {
    method: "POST",
    path: "/v1/graphql",
    body: "json",
    access: { verb: "get", resource: "traversal/*", action: "read_data" },
    timeout: "request",
    handle: ({ body, context, warnings }) => handler.execute(body, context, warnings),
  };
}

/** `POST /v1/graphql/batch` (reference-graphql 1.2). */
export function graphQlBatchRoute(handler: GraphQlHandler): Route {
  return {
    method: "POST",
    path: "/v1/graphql/batch",
    body: "json",
    access: { verb: "get", resource: "traversal/*", action: "read_data" },
    timeout: "batch",
    handle: ({ body, context, warnings }) => handler.executeBatch(body, context, warnings),
  };
}
