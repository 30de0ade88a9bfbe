import { ShoalError } from "@shoal/model";
import type { EnabledModules, SearchArgument } from "@shoal/module-api";
import type { QueryService } from "@shoal/query";
import { eventLoop, InnerContext, type RequestContext } from "@shoal/runtime";
import { GraphQLError, type GraphQLSchema } from "graphql";
import { type AnswerBudget, type HeldAnswer, isCounted } from "../../answer-budget.js";
import { TURN_LENGTH } from "../../json/write-in-turns.js";
import type { RowTurns } from "../../row-turns.js";
import {
  type ErrorItem,
  errorsTail,
  failureMessage,
  type GraphQlAnswer,
  type GraphQlWire,
  refuseOverloaded,
  tooLargeAnswer,
} from "../answer.js";
import type { GraphQlStatistics } from "../graphql-statistics.js";
import { type FieldCost, RequestCost } from "../guards/request-cost.js";
import type { GraphQlLimits } from "../limits.js";
import type { RequestReading } from "../plain/request-reading.js";
import type { WhereReading } from "../where/read-where.js";
import { compileQuery, type PlannedRoot } from "./compile-query.js";
import { locationsOf } from "./error-locations.js";
import { JsonBytes } from "./json-bytes.js";
import { RequestLifter } from "./lift-request.js";
import { LITERALS_MAX, type LiftedLiterals } from "./lifted-literals.js";
import type { BoundCall, PlannedCall, WriteAnswer } from "./planned-call.js";
import { TemplateCache } from "./template-cache.js";

export interface PreparedQueriesOptions {
  readonly schema: GraphQLSchema;
  readonly where: WhereReading;
  readonly modules: EnabledModules;
  readonly exploreSearches: ReadonlyMap<string, SearchArgument>;
  readonly query: QueryService;
  readonly wire: GraphQlWire;
  readonly limits: GraphQlLimits;
  readonly answers: AnswerBudget;
  readonly onFault: (thrown: unknown, context: RequestContext) => void;
  readonly turns: RowTurns;
  readonly statistics?: GraphQlStatistics;
}

/** Answers larger than this do not leave their buffer behind. */
const ANSWER_BYTES_KEPT_MAX = 1024 * 1024;

/** Of a field that could not be bound. */
const NO_COST: FieldCost = { rows: 0, targets: 0 };

/** Characters of a template, on average at most: what is compiled from one takes more than a hundred times its length. */
const TEMPLATE_CHARS = 512;

const NOT_PREPARABLE = "not preparable";

/** Its values are refused; other requests of the template may be fine. */
const REFUSED = "refused";

/** Why a field has no answer. */
class Failure {
  constructor(readonly thrown: unknown) {}

  static of(thrown: unknown): Failure {
    return new Failure(thrown);
  }
}

type Outcome = WriteAnswer | Failure;

interface FailedField {
  readonly path: readonly string[];
  readonly failure: Failure;
}

/**
 * Answers requests whose template (all but the literals) was compiled before, without parsing, validating or executing
 * GraphQL again. The answers are byte by byte those of graphql-js. One instance serves one schema.
 */
export class PreparedQueries {
  readonly #options: PreparedQueriesOptions;
  readonly #lifter: RequestLifter;
  /** Whatever other numbers a template and its literals hold, so many in vectors pass no limit. */
  readonly #vectorNumbersMax: number;
  readonly #plans: TemplateCache<PreparedQuery | typeof NOT_PREPARABLE>;
  readonly #outputs: AnswerBuffers;

  constructor(options: PreparedQueriesOptions) {
    this.#options = options;
    this.#outputs = new AnswerBuffers(options.limits.answerBytesMax);
    const { graphqlNumbersMax, preparedTemplateBytesMax } = options.limits;
    this.#lifter = new RequestLifter(preparedTemplateBytesMax);
    this.#vectorNumbersMax = graphqlNumbersMax - preparedTemplateBytesMax / 2 - LITERALS_MAX;
    const { preparedQueriesMax } = options.limits;
    this.#plans = new TemplateCache(preparedQueriesMax, preparedQueriesMax * TEMPLATE_CHARS);
  }

  /** The answer, or undefined when the request has to go through graphql-js. */
  execute(body: Buffer, reading: RequestReading, context: RequestContext): Promise<GraphQlAnswer> | undefined {
    const template = this.#lifter.lift(body);
    if (template === undefined || this.#lifter.literals.vectorNumbers > this.#vectorNumbersMax) return undefined;
    let plan = this.#plans.get(template);
    if (plan === undefined) {
      const planned = this.#compile(reading, context);
      if (planned === REFUSED) return undefined;
      plan = planned === undefined ? NOT_PREPARABLE : new PreparedQuery(planned, this.#options, this.#outputs);
      this.#plans.set(template, plan);
    }
    return plan === NOT_PREPARABLE ? undefined : plan.execute(reading, this.#lifter, context);
  }

  #compile(reading: RequestReading, context: RequestContext): readonly PlannedRoot[] | typeof REFUSED | undefined {
    const valid = reading.valid();
    // It may be the literals: too many numbers, too long a text.
    if (valid === undefined) return REFUSED;
    try {
      return compileQuery(this.#options, valid.request, valid.document, this.#lifter);
    } catch (thrown) {
      // Its execution will say so, at the right place: a value that we refuse, or a directive whose condition is null.
      if (!(thrown instanceof ShoalError || thrown instanceof GraphQLError)) this.#options.onFault(thrown, context);
      return REFUSED;
    }
  }
}

/** The buffer that answers are written in, one after another. */
class AnswerBuffers {
  readonly #bytesMax: number;
  #current: JsonBytes;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#current = new JsonBytes(Math.min(ANSWER_BYTES_KEPT_MAX, bytesMax), bytesMax);
  }

  get current(): JsonBytes {
    return this.#current;
  }

  /** Leaves the current one to its answer: others get a new one. */
  detach(): void {
    this.#current = new JsonBytes(Math.min(ANSWER_BYTES_KEPT_MAX, this.#bytesMax), this.#bytesMax);
  }
}

class PreparedQuery {
  readonly #roots: readonly PlannedRoot[];
  readonly #calls: readonly PlannedCall[];
  readonly #options: PreparedQueriesOptions;
  readonly #outputs: AnswerBuffers;
  readonly #noErrors: string;

  constructor(roots: readonly PlannedRoot[], options: PreparedQueriesOptions, outputs: AnswerBuffers) {
    this.#roots = roots;
    this.#options = options;
    this.#outputs = outputs;
    this.#calls = roots.flatMap((root) =>
      root.kind === "object" ? root.fields.filter(isCall) : isCall(root) ? root : [],
    );
    this.#noErrors = errorsTail([], options.wire);
  }

  async execute(reading: RequestReading, lifter: RequestLifter, context: RequestContext): Promise<GraphQlAnswer> {
    const { limits, answers, turns } = this.#options;
    // The literals are taken before the first await: the lifter serves the next request then.
    const calls = this.#calls.map((call) => boundCall(call, lifter.literals));
    const held = answers.begin(context);
    try {
      const cost = new RequestCost();
      for (const call of calls) cost.add(call instanceof Failure ? NO_COST : call);
      cost.check(limits);
      const [only] = calls;
      if (only !== undefined && calls.length === 1 && !isCounted(cost.rows)) {
        const outcome = await this.#outcome(only, context, held);
        return { status: 200, body: await this.#written(reading, [outcome], context, held) };
      }
      return await turns.run(cost.rows, context, async () => {
        const outcomes = await Promise.all(calls.map((call) => this.#outcome(call, context, held)));
        return { status: 200, body: await this.#written(reading, outcomes, context, held) };
      });
    } catch (thrown) {
      return tooLargeAnswer(thrown);
    } finally {
      held.end();
    }
  }

  /** Rejects when the answer grows too large, not when the query fails. */
  async #outcome(call: BoundCall | Failure, context: RequestContext, held: HeldAnswer): Promise<Outcome> {
    if (call instanceof Failure) return call;
    const outcome = await call
      .run(this.#options.query, new InnerContext(context, { rowBytes: held }))
      .catch(Failure.of);
    if (outcome instanceof Failure) refuseOverloaded(outcome.thrown, held);
    if (held.refusal !== undefined) throw held.refusal;
    return outcome;
  }

  async #written(
    reading: RequestReading,
    outcomes: readonly Outcome[],
    context: RequestContext,
    held: HeldAnswer,
  ): Promise<Buffer> {
    const out = this.#outputs.current;
    out.truncate(0);
    let isShared = true;
    try {
      const writing = this.#write(reading, outcomes, out, context);
      while (writing.next().done !== true) {
        if (isShared) this.#outputs.detach();
        isShared = false;
        held.setText(out.length);
        await eventLoop.next(context.share);
        context.signal?.throwIfAborted();
      }
      return out.take();
    } catch (thrown) {
      // It may have grown.
      if (isShared) this.#outputs.detach();
      throw thrown;
    }
  }

  *#write(
    reading: RequestReading,
    outcomes: readonly Outcome[],
    out: JsonBytes,
    context: RequestContext,
  ): Generator<void, void> {
    const failures: FailedField[] = [];
    let turnEnd = TURN_LENGTH;
    let next = 0;
    out.ascii('{"data":{');
    for (const [i, root] of this.#roots.entries()) {
      out.ascii(`${i === 0 ? "" : ","}"${root.responseName}":`);
      const fields = root.kind === "object" ? root.fields : [root];
      for (const [j, field] of fields.entries()) {
        if (root.kind === "object") out.ascii(`${j === 0 ? "{" : ","}"${field.responseName}":`);
        if (field.kind === "constant") {
          out.ascii(field.json);
          continue;
        }
        const failure = yield* writeOutcome(outcomes[next++], out);
        const path = root.kind === "object" ? [root.responseName, field.responseName] : [root.responseName];
        if (failure !== undefined) failures.push({ path, failure });
        if (out.length < turnEnd) continue;
        yield;
        turnEnd = out.length + TURN_LENGTH;
      }
      if (root.kind === "object") out.byte(125);
    }
    out.byte(125);
    if (failures.length === 0) out.ascii(this.#noErrors);
    else out.utf8(errorsTail(this.#errorItems(reading, failures, context), this.#options.wire));
  }

  #errorItems(
    reading: RequestReading,
    failures: readonly FailedField[],
    context: RequestContext,
  ): readonly ErrorItem[] {
    const { statistics } = this.#options;
    if (statistics !== undefined) statistics.errors += failures.length;
    const locate = locationsOf(this.#options.schema, reading);
    return failures.map(({ path, failure: { thrown } }) => {
      if (!(thrown instanceof ShoalError)) this.#options.onFault(thrown, context);
      return { locations: locate(path), message: failureMessage(thrown), path };
    });
  }
}

/** Writes the answer, or null and says why. Fails with `tooLarge` when the answer is. */
function* writeOutcome(outcome: Outcome | undefined, out: JsonBytes): Generator<void, Failure | undefined> {
  const before = out.length;
  let failure = outcome instanceof Failure ? outcome : undefined;
  if (outcome !== undefined && !(outcome instanceof Failure)) {
    try {
      yield* outcome(out);
      return undefined;
    } catch (thrown) {
      if (thrown instanceof ShoalError && thrown.code === "tooLarge") throw thrown;
      out.truncate(before);
      failure = new Failure(thrown);
    }
  }
  out.ascii("null");
  return failure;
}

function boundCall(call: PlannedCall, literals: LiftedLiterals): BoundCall | Failure {
  try {
    return call.bind(literals);
  } catch (thrown) {
    return new Failure(thrown);
  }
}

function isCall(field: PlannedRoot): field is PlannedCall {
  return field.kind === "call";
}
