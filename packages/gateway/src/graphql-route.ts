import type { GraphQlHandler } from "./graphql/handler.js";
import { decodeRequest } from "./graphql/request-body.js";
import type { Route } from "./http/route.js";

/** `POST /v1/graphql`: the place where GraphQL meets HTTP, with its batch. */
export function graphQlRoute(handler: GraphQlHandler): Route {
  return {
    method: "POST",
    path: "/v1/graphql",
    body: "json",
    access: { verb: "get", resource: "traversal/*" },
    timeout: "request",
    bind: ({ body }) => {
      decodeRequest(body);
    },
    handle: ({ body, context }) => handler.execute(body, context),
  };
}

/** `POST /v1/graphql/batch` (reference-graphql 1.2). */
export function graphQlBatchRoute(handler: GraphQlHandler): Route {
  return {
    method: "POST",
    path: "/v1/graphql/batch",
    body: "json",
    access: { verb: "get", resource: "traversal/*" },
    timeout: "batch",
    bind: ({ body }) => handler.checkBatch(body),
    handle: ({ body, context }) => handler.executeBatch(body, context),
  };
}
