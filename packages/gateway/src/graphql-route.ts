import type { GraphQlHandler } from "./graphql/handler.js";
import { decodeRequest } from "./graphql/request-body.js";
import type { Route } from "./http/route.js";

/** `POST /v1/graphql`: the one place where GraphQL meets HTTP. */
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
