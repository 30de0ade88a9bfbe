import type { ApolloServer } from "@apollo/server";
import { ShoalError } from "@shoal/model";
import { InnerContext, type RequestContext } from "@shoal/runtime";
import { GraphQLError, type GraphQLFormattedError, type GraphQLSchema } from "graphql";
import { type AnswerBudget, answerTooLarge } from "../../answer-budget.js";
import { TURN_LENGTH, writeInTurns } from "../../json/write-in-turns.js";
import {
  type ErrorItem,
  errorItem,
  errorsTail,
  failureMessage,
  type GraphQlAnswer,
  type GraphQlWire,
  refusedAnswer,
  refuseOverloaded,
  tooLargeAnswer,
} from "../answer.js";
import type { GraphQlStatistics } from "../graphql-statistics.js";
import type { GraphQlRequest } from "../request-body.js";
import { answerParts } from "./answer-parts.js";
import { introspectInTurns } from "./introspect-in-turns.js";
import type { PlainContext } from "./plain-row.js";
import { ReachedRows } from "./reached-rows.js";

export interface PlainExecutionParts {
  readonly schema: GraphQLSchema;
  readonly wire: GraphQlWire;
  readonly answers: AnswerBudget;
  /** Called with everything that was thrown and is no ShoalError. */
  readonly onFault: (thrown: unknown, context: RequestContext) => void;
  readonly statistics?: GraphQlStatistics;
}

/**
 * Executes requests that are no prepared queries, through Apollo Server. Validation is done before
 * (`readDocument`): with our texts, and behind the limits that protect the parser.
 */
export class PlainExecution {
  readonly #schema: GraphQLSchema;
  readonly #wire: GraphQlWire;
  #server: Promise<ApolloServer<PlainContext>> | undefined;

  readonly #onFault: PlainExecutionParts["onFault"];
  readonly #answers: AnswerBudget;
  readonly #statistics: GraphQlStatistics | undefined;

  constructor({ schema, wire, answers, onFault, statistics }: PlainExecutionParts) {
    this.#answers = answers;
    this.#onFault = onFault;
    this.#schema = schema;
    this.#wire = wire;
    this.#statistics = statistics;
  }

  /** Loaded and built at the first request that needs it: each takes 30 ms, building more for a thousand classes. */
  #apollo(): Promise<ApolloServer<PlainContext>> {
    this.#server ??= this.#newApollo().catch((thrown: unknown) => {
      this.#server = undefined;
      throw thrown;
    });
    return this.#server;
  }

  async #newApollo(): Promise<ApolloServer<PlainContext>> {
    const { ApolloServer } = await import("@apollo/server");
    const disabled = await import("@apollo/server/plugin/disabled");
    introspectInTurns();
    return new ApolloServer<PlainContext>({
      schema: this.#schema,
      introspection: true,
      dangerouslyDisableValidation: true,
      persistedQueries: false,
      documentStore: null,
      includeStacktraceInErrorResponses: false,
      formatError: formatted,
      stopOnTerminationSignals: false,
      nodeEnv: "production",
      logger: SILENT,
      plugins: [
        disabled.ApolloServerPluginCacheControlDisabled(),
        disabled.ApolloServerPluginInlineTraceDisabled(),
        disabled.ApolloServerPluginLandingPageDisabled(),
        disabled.ApolloServerPluginSchemaReportingDisabled(),
        disabled.ApolloServerPluginUsageReportingDisabled(),
        { requestDidStart: async () => ({ didEncounterErrors: async (failed) => this.#tellFaults(failed) }) },
      ],
    });
  }

  #tellFaults({ errors, contextValue }: { errors: readonly GraphQLError[]; contextValue: PlainContext }): void {
    for (const error of errors) {
      refuseOverloaded(error.originalError, contextValue.answer);
      const fault = faultOf(error);
      if (fault !== undefined) this.#onFault(fault, contextValue.request);
    }
  }

  /** Answers a request whose document was read and found valid. */
  async execute(asked: GraphQlRequest, context: RequestContext): Promise<GraphQlAnswer> {
    const held = this.#answers.begin(context);
    try {
      const request = new InnerContext(context, { rowBytes: held });
      return await this.#execute(asked, {
        request,
        answer: held,
        reached: new ReachedRows(request, held),
      });
    } catch (thrown) {
      return tooLargeAnswer(thrown);
    } finally {
      held.end();
    }
  }

  async #execute(request: GraphQlRequest, context: PlainContext): Promise<GraphQlAnswer> {
    const apollo = await this.#apollo();
    const { body } = await apollo.executeOperation(
      {
        query: request.query,
        ...(request.operationName === undefined ? {} : { operationName: request.operationName }),
        variables: { ...request.variables },
      },
      { contextValue: context },
    );
    if (body.kind !== "single") throw new ShoalError("internal", "a GraphQL answer in several parts");
    const { data, errors } = body.singleResult;
    const limit = context.answer.refusal;
    if (limit !== undefined) throw limit;
    if (context.reached.isOver) context.request.signal?.throwIfAborted();
    const items = (errors ?? []).map(errorItem);
    if (this.#statistics !== undefined) this.#statistics.errors += items.length;
    if (data === undefined) return refusedAnswer(items);
    try {
      return { status: 200, body: await this.#written(data, items, context) };
    } catch (thrown) {
      // A row beyond the longest string there can be.
      throw thrown instanceof RangeError ? answerTooLarge(context.answer.bytesMax) : thrown;
    }
  }

  /** A large answer is written in turns, and no further than it may grow. */
  async #written(data: unknown, errors: readonly ErrorItem[], context: PlainContext): Promise<Buffer> {
    const tail = errorsTail(errors, this.#wire);
    function* parts() {
      let length = 0;
      let lookAt = TURN_LENGTH;
      yield '{"data":';
      for (const part of answerParts(data)) {
        length += part.length;
        context.answer.setText(length);
        if (length >= lookAt) {
          context.request.signal?.throwIfAborted();
          lookAt = length + TURN_LENGTH;
        }
        yield part;
      }
      yield tail;
    }
    const chunks = await writeInTurns(parts(), "utf8", context.request.share);
    return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
  }
}

/** What was thrown on the way to an error, when it is a fault of ours. */
function faultOf(error: unknown): unknown {
  const original = error instanceof GraphQLError ? error.originalError : error;
  return original instanceof GraphQLError || original instanceof ShoalError ? undefined : original;
}

/** What resolvers threw is worded by us; errors of graphql-js itself keep their text. */
function formatted(error: GraphQLFormattedError, thrown: unknown): GraphQLFormattedError {
  const fault = faultOf(thrown);
  return fault === undefined ? error : { ...error, message: failureMessage(fault) };
}

/** Apollo's own lines say nothing that the answer does not say. */
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
