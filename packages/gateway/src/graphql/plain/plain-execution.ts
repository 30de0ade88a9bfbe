import { ApolloServer } from "@apollo/server";
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from "@apollo/server/plugin/disabled";
import { ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/rpc";
import { GraphQLError, type GraphQLFormattedError, type GraphQLSchema } from "graphql";
import {
  errorItem,
  executedAnswer,
  failureMessage,
  type GraphQlAnswer,
  type GraphQlWire,
  refusedAnswer,
} from "../answer.js";
import type { GraphQlRequest } from "../request-body.js";
import type { PlainContext } from "./plain-row.js";

/**
 * Executes requests that are no prepared queries, through Apollo Server. Validation is done before
 * (`readDocument`): with our texts, and behind the limits that protect the parser.
 */
export class PlainExecution {
  readonly #schema: GraphQLSchema;
  readonly #wire: GraphQlWire;
  #server: ApolloServer<PlainContext> | undefined;

  readonly #onFault: (thrown: unknown) => void;

  constructor(schema: GraphQLSchema, wire: GraphQlWire, onFault: (thrown: unknown) => void) {
    this.#onFault = onFault;
    this.#schema = schema;
    this.#wire = wire;
  }

  /** Built at the first request that needs it: it takes 30 ms and more for a thousand classes. */
  #apollo(): ApolloServer<PlainContext> {
    this.#server ??= new ApolloServer<PlainContext>({
      schema: this.#schema,
      introspection: true,
      dangerouslyDisableValidation: true,
      persistedQueries: false,
      documentStore: null,
      includeStacktraceInErrorResponses: false,
      formatError: (formatted, error) => this.#formatted(formatted, error),
      stopOnTerminationSignals: false,
      nodeEnv: "production",
      logger: SILENT,
      plugins: [
        ApolloServerPluginCacheControlDisabled(),
        ApolloServerPluginInlineTraceDisabled(),
        ApolloServerPluginLandingPageDisabled(),
        ApolloServerPluginSchemaReportingDisabled(),
        ApolloServerPluginUsageReportingDisabled(),
      ],
    });
    return this.#server;
  }

  /** What resolvers threw is worded by us; errors of graphql-js itself keep their text. */
  #formatted(formatted: GraphQLFormattedError, error: unknown): GraphQLFormattedError {
    const original = error instanceof GraphQLError ? error.originalError : error;
    if (original === undefined || original instanceof GraphQLError || original instanceof ShoalError) return formatted;
    this.#onFault(original);
    return { ...formatted, message: failureMessage(original) };
  }

  /** Answers a request whose document was read and found valid. */
  async execute(request: GraphQlRequest, context: RequestContext): Promise<GraphQlAnswer> {
    const { body } = await this.#apollo().executeOperation(
      {
        query: request.query,
        ...(request.operationName === undefined ? {} : { operationName: request.operationName }),
        variables: { ...request.variables },
      },
      { contextValue: { request: context } },
    );
    if (body.kind !== "single") throw new ShoalError("internal", "a GraphQL answer in several parts");
    const { data, errors } = body.singleResult;
    const items = (errors ?? []).map(errorItem);
    return data === undefined ? refusedAnswer(items) : executedAnswer(data, items, this.#wire);
  }
}

/** Apollo's own lines say nothing that the answer does not say. */
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
