import { isUncheckedObject } from "@shoal/model";
import * as z from "zod";
import type { Operation } from "./operation.js";

/** The body of `POST /v1/graphql` (reference-rest 2.10). */
export const GRAPHQL_BODY = z
  .object({
    query: z.string().min(1).describe("Not empty."),
    operationName: z.string().optional().describe("Which operation of the query; needed where it has several."),
    variables: z.custom<object>(isUncheckedObject).optional().meta({ type: "object" }),
  })
  .meta({ id: "GraphQLQuery" });

const GRAPHQL_ERROR = z.looseObject({
  message: z.string(),
  locations: z.unknown().optional(),
  path: z.unknown().optional(),
});

const GRAPHQL_ANSWER = z
  .strictObject({
    data: z.unknown().optional(),
    errors: z
      .array(GRAPHQL_ERROR)
      .nullable()
      .optional()
      .describe("Under the wire profile `spec` null where there are none, under `weaviate` absent."),
  })
  .meta({ id: "GraphQLAnswer" });

export const GRAPHQL_OPERATIONS: readonly Operation[] = [
  {
    method: "POST",
    path: "/v1/graphql",
    id: "query",
    tag: "graphql",
    summary: "Ask a GraphQL query",
    description: "Errors of the query itself are told with status 200, beside the data that could be read.",
    body: {
      schema: GRAPHQL_BODY,
      examples: {
        "all articles": { query: "{ Get { Article(limit: 10) { title _additional { id } } } }" },
        "nearest to a vector": {
          query:
            "query ($vector: [Float]!) { Get { Article(nearVector: { vector: $vector }, limit: 3) " +
            "{ title _additional { id certainty } } } }",
          variables: { vector: [0.12, -0.3, 0.98] },
        },
      },
    },
    answers: {
      200: {
        description: "The answer.",
        schema: GRAPHQL_ANSWER,
        example: { data: { Get: { Article: [{ title: "On vectors" }] } }, errors: null },
      },
      413: { description: "The body, or the answer, is larger than its limit." },
      422: { description: "The query is empty, or there is no class to ask for." },
    },
  },
];
