import type { ApolloServer } from "@apollo/server";
import { ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { GraphQLSchema } from "graphql";
import { type GraphQlResponse, tooLargeResponse } from "./graphql-response.js";
import type { BoundPlan, PlanExecution } from "./plan/plan-execution.js";
import type { PlannedRequest, RequestReading } from "./reading/request-reading.js";

/** A request on its way through Apollo Server. */
interface ApolloContext {
  readonly bound: BoundPlan;
  readonly request: RequestContext;
}

/**
 * Requests that are no prepared queries: through Apollo Server, which has our executor as it has that of a gateway. Validation
 * is done before (`readDocument`): with our texts, and behind the limits that protect the parser.
 */
export class ApolloExecution {
  #server: Promise<ApolloServer<ApolloContext>> | undefined;

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly execution: PlanExecution,
  ) {}

  /** Answers a valid request with its plan. */
  async execute(
    { request: { query, operationName, variables }, plan }: PlannedRequest,
    reading: RequestReading,
    request: RequestContext,
  ): Promise<GraphQlResponse> {
    const bound = { roots: plan.roots, calls: plan.calls.map((call) => call.bound), reading };
    try {
      this.execution.checkedRows(bound.calls);
    } catch (thrown) {
      return tooLargeResponse(thrown);
    }
    const apollo = await this.#apollo();
    const operation = { query, variables: { ...variables }, ...(operationName === undefined ? {} : { operationName }) };
    const { body } = await apollo.executeOperation(operation, { contextValue: { bound, request } });
    const outcome = body.kind === "single" ? body.singleResult.data?.outcome : undefined;
    if (outcome === undefined) throw new ShoalError("internal", "Apollo Server did not execute a valid request");
    const settled = outcome as PromiseSettledResult<GraphQlResponse>;
    if (settled.status === "rejected") throw settled.reason;
    return settled.value;
  }

  /** Our answer is bytes, errors included; Apollo Server hands it through as the one member of its data. */
  async #executed({ bound, request }: ApolloContext) {
    const [outcome] = await Promise.allSettled([this.execution.execute(bound, request)]);
    return { data: { outcome } };
  }

  /** Loaded and built at the first request that needs it: each takes 30 ms, building more for a thousand classes. */
  #apollo(): Promise<ApolloServer<ApolloContext>> {
    this.#server ??= this.#newApollo().catch((thrown: unknown) => {
      this.#server = undefined;
      throw thrown;
    });
    return this.#server;
  }

  async #newApollo(): Promise<ApolloServer<ApolloContext>> {
    const { ApolloServer } = await import("@apollo/server");
    const disabled = await import("@apollo/server/plugin/disabled");
    return new ApolloServer<ApolloContext>({
      gateway: {
        onSchemaLoadOrUpdate: (tell) => {
          tell({ apiSchema: this.schema, coreSupergraphSdl: "" });
          return () => {};
        },
        load: async () => ({ executor: ({ context }) => this.#executed(context as ApolloContext) }),
        stop: async () => {},
      },
      introspection: true,
      dangerouslyDisableValidation: true,
      persistedQueries: false,
      documentStore: null,
      includeStacktraceInErrorResponses: false,
      stopOnTerminationSignals: false,
      nodeEnv: "production",
      logger: SILENT,
      plugins: [
        disabled.ApolloServerPluginCacheControlDisabled(),
        disabled.ApolloServerPluginInlineTraceDisabled(),
        disabled.ApolloServerPluginLandingPageDisabled(),
        disabled.ApolloServerPluginSchemaReportingDisabled(),
        disabled.ApolloServerPluginUsageReportingDisabled(),
      ],
    });
  }
}

/** Apollo's own lines say nothing that the response does not say. */
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
