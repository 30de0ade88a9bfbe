import { isUncheckedObject } from "@shoal/model";
import * as z from "zod";
import { type Operation, operation } from "./operation.js";

/** The body of `POST /v1/graphql` (reference-rest 2.10). */
export const GRAPHQL_BODY = z
  .object({
    query: z.string().min(1).describe("Not empty."),
    operationName: z.string().optional().describe("Which operation of the query; needed where it has several."),
    variables: z.custom<object>(isUncheckedObject).optional().meta({ type: "object" }),
  })
  .meta({ id: "GraphQLQuery" });

/** The body of `POST /v1/graphql/batch`. An item without a query is answered with an error of its own. */
export const GRAPHQL_BATCH_BODY = z
  .array(GRAPHQL_BODY.extend({ query: z.string().optional() }).nullable())
  .min(1)
  .meta({ id: "GraphQLQueries" });

const GRAPHQL_ERROR = z.looseObject({
  message: z.string(),
  locations: z.unknown().optional(),
  path: z.unknown().optional(),
});

const GRAPHQL_RESPONSE = z
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
  operation("POST", "/v1/graphql", "graphql", "query", "Ask a GraphQL query", {
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
    responses: {
      200: {
        description: "The answer.",
        schema: GRAPHQL_RESPONSE,
        example: { data: { Get: { Article: [{ title: "On vectors" }] } }, errors: null },
      },
      413: { description: "The body, or the answer, is larger than its limit." },
      422: { description: "The query is empty, or there is no class to ask for." },
    },
  }),
  operation("POST", "/v1/graphql/batch", "graphql", "queryBatch", "Ask several GraphQL queries", {
    description:
      "Some are answered at the same time, and all in the order in which they were asked. A query that is refused has its " +
      "reason in its own answer.",
    body: {
      schema: GRAPHQL_BATCH_BODY,
      examples: {
        "two queries": [
          { query: "{ Get { Article(limit: 10) { title } } }" },
          { query: "{ Aggregate { Article { meta { count } } } }" },
        ],
      },
    },
    responses: {
      200: {
        description: "The answers.",
        schema: z.array(GRAPHQL_RESPONSE),
        example: [
          { data: { Get: { Article: [{ title: "On vectors" }] } }, errors: null },
          { data: { Aggregate: { Article: [{ meta: { count: 1 } }] } }, errors: null },
        ],
      },
      413: { description: "The body is larger than its limit, or has more queries than are allowed." },
      422: { description: "There is no query in it, or no class to ask for." },
    },
  }),
];
