import type { SchemaView } from "@shoal/cluster";
import { CLIENT_PHRASES, type RequestWarnings, ShoalError } from "@shoal/model";
import { type EnabledModules, NO_ENABLED_MODULES } from "@shoal/module-api";
import type { QueryService } from "@shoal/query";
import type { RequestContext } from "@shoal/runtime";
import { ResponseBudget } from "../response-budget.js";
import { RowGate } from "../row-gate.js";
import { checkBatch } from "./batch/batch-items.js";
import { type GraphQlBatchResponse, runBatch } from "./batch/run-batch.js";
import { type Generation, SeenGenerations } from "./generations.js";
import { type GraphQlResponse, type GraphQlWire, httpError } from "./graphql-response.js";
import { DEFAULT_GRAPHQL_LIMITS, type GraphQlLimits } from "./limits.js";
import type { RefusedRequest } from "./plan/compile-request.js";
import { GraphQlStatistics } from "./plan/plan-execution.js";
import { readRequest } from "./reading/request-body.js";
import { RequestReading } from "./reading/request-reading.js";
import type { SkippedClass } from "./schema/build-schema.js";

export interface GraphQlHandlerDeps {
  readonly schema: SchemaView;
  readonly query: QueryService;
  readonly wire: GraphQlWire;
  /** None when absent. */
  readonly modules?: EnabledModules;
  /** What is not given has its default. */
  readonly limits?: Partial<GraphQlLimits>;
  /** Called at each rebuild of the schema for every class that has no place in it. */
  readonly onSkippedClass?: (skipped: SkippedClass) => void;
  /** Called with everything that was thrown while a query was answered and is no ShoalError. */
  readonly onFault: (thrown: unknown, context: RequestContext) => void;
  /** Counts the memory of all responses; absent: of these alone. */
  readonly responses?: ResponseBudget;
  /** Shared with whoever else reads many rows. */
  readonly rowGate?: RowGate;
  /** Counted in; for whoever wants to know. */
  readonly statistics?: GraphQlStatistics;
  /** False: everything goes through Apollo Server. For comparison. */
  readonly prepareQueries?: boolean;
}

const NO_SCHEMA =
  `${CLIENT_PHRASES.noGraphqlProvider} There are no classes that could be queried: create one with POST /v1/schema, or store ` +
  "an object of one with AUTOSCHEMA_ENABLED";

/** A request that is answered. */
interface Asked {
  readonly body: Buffer;
  readonly context: RequestContext;
  readonly warnings: RequestWarnings | undefined;
}

/** POST /v1/graphql, and its batch. */
export class GraphQlHandler {
  readonly #limits: GraphQlLimits;
  readonly #responses: ResponseBudget;
  readonly #statistics: GraphQlStatistics;
  readonly #generations: SeenGenerations;

  constructor(private readonly deps: GraphQlHandlerDeps) {
    this.#limits = { ...DEFAULT_GRAPHQL_LIMITS, ...deps.limits };
    this.#responses = deps.responses ?? new ResponseBudget(this.#limits);
    this.#statistics = deps.statistics ?? new GraphQlStatistics();
    const { query, wire, modules = NO_ENABLED_MODULES, onSkippedClass, onFault } = deps;
    const rowGate = deps.rowGate ?? new RowGate(this.#limits.graphqlRowsMax);
    this.#generations = new SeenGenerations({
      ...{ query, wire, modules, onFault, limits: this.#limits },
      ...{ responses: this.#responses, rowGate, statistics: this.#statistics },
      ...(onSkippedClass === undefined ? {} : { onSkippedClass }),
    });
  }

  /**
   * Answers a request body. Never rejects because of what the body says; rejects with `overloaded` when answers
   * take too much memory, with `deadlineExceeded` when writing it takes too long, and when something of ours is broken.
   * The bytes are not read any more once the promise is settled. `warnings` gets unknown members, here and below.
   */
  // Not `async`: a prepared query is one promise.
  execute(body: Buffer, context: RequestContext, warnings?: RequestWarnings): Promise<GraphQlResponse> {
    try {
      const asked = { body, context, warnings };
      const current = this.#current(context);
      if (!(current instanceof Promise)) return this.#execute(asked, current);
      return current.then((generation) => this.#execute(asked, generation));
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  }

  /**
   * The same for the body of POST /v1/graphql/batch, a list of requests. Rejects with `malformed`, `invalid` or `tooLarge`
   * when it is none, or one without items.
   */
  async executeBatch(body: Buffer, context: RequestContext, warnings?: RequestWarnings): Promise<GraphQlBatchResponse> {
    if ((await this.#current(context)).built === undefined) await this.deps.schema.refresh(context);
    if ((await this.#current(context)).built === undefined) {
      checkBatch(body, this.#limits.graphqlBatchRequestsMax, warnings);
      throw new ShoalError("invalid", NO_SCHEMA);
    }
    const execute = (item: Buffer) => this.execute(item, context, warnings);
    const { onFault } = this.deps;
    return runBatch(body, { execute, responses: this.#responses, limits: this.#limits, onFault }, context);
  }

  /** `isNewest`: the schema has been asked for because of this request. */
  #execute(asked: Asked, generation: Generation, isNewest = false): Promise<GraphQlResponse> {
    const { built } = generation;
    if (built === undefined) return this.#executeWithoutSchema(asked, generation, isNewest);
    const { body, context, warnings } = asked;
    const reading = new RequestReading(body, built.parts, warnings);
    const response = this.deps.prepareQueries === false ? undefined : built.prepared.execute(body, reading, context);
    if (response !== undefined) {
      this.#statistics.prepared++;
      return response;
    }
    this.#statistics.plain++;
    const read = reading.read();
    if (!("response" in read)) return built.apollo.execute(read, reading, context);
    return this.#refused(read, asked, generation, isNewest);
  }

  async #executeWithoutSchema(asked: Asked, generation: Generation, isNewest: boolean): Promise<GraphQlResponse> {
    const newer = isNewest ? undefined : await this.#newerResponse(asked, generation);
    if (newer !== undefined) return newer;
    const read = readRequest(asked.body, asked.warnings);
    return "refusal" in read ? read.refusal : httpError(422, NO_SCHEMA);
  }

  async #refused(
    refused: RefusedRequest,
    asked: Asked,
    generation: Generation,
    isNewest: boolean,
  ): Promise<GraphQlResponse> {
    const newer = refused.isBySchema === true && !isNewest ? await this.#newerResponse(asked, generation) : undefined;
    if (newer !== undefined) return newer;
    this.#statistics.errors += refused.errors;
    return refused.response;
  }

  /** The response to a request that was refused, when there is a newer schema than that of `generation`. */
  async #newerResponse(asked: Asked, { definitions }: Generation): Promise<GraphQlResponse | undefined> {
    await this.deps.schema.refresh(asked.context);
    const newest = await this.#current(asked.context);
    return newest.definitions === definitions ? undefined : this.#execute(asked, newest, true);
  }

  /** Of the schema as it is now or newer, as whoever asks sees it; a promise when it has to be built and that takes several steps. */
  #current(context: RequestContext): Generation | Promise<Generation> {
    const known = this.#generations.of(this.deps.schema.snapshot, context.rights);
    // Whoever asks later may know a newer schema: the one that is being built is not enough then.
    return known instanceof Promise ? known.then(() => this.#current(context)) : known;
  }
}
