import type { GraphQlHandler } from "./graphql/handler.js";
import type { Route } from "./http/route.js";

/** `POST /v1/graphql` and its batch (reference-graphql 1.2): the place where GraphQL meets HTTP. */
export function graphQlRoutes(handler: GraphQlHandler): readonly Route[] {
  const shared = {
    method: "POST",
    body: "json",
    access: { verb: "get", resource: "traversal/*", action: "read_data" },
  } as const;
  return [
    {
      ...shared,
      path: "/v1/graphql",
      timeout: "request",
      handle: ({ body, context, warnings }) => handler.execute(body, context, warnings),
    },
    {
      ...shared,
      path: "/v1/graphql/batch",
      timeout: "batch",
      handle: ({ body, context, warnings }) => handler.executeBatch(body, context, warnings),
    },
  ];
}
