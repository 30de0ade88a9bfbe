import { setImmediate } from "node:timers/promises";
import { type GetQuery, ShoalError } from "@shoal/model";
import type { GetRow, QueryService } from "@shoal/query";
import type { RequestContext } from "@shoal/rpc";
import type { GraphQLSchema } from "graphql";
import { type AnswerBudget, AnswerContext, type HeldAnswer, isCounted } from "../../answer-budget.js";
import type { RowTurns } from "../../row-turns.js";
import {
  type ErrorItem,
  errorsTail,
  failureMessage,
  type GraphQlAnswer,
  type GraphQlWire,
  tooLargeAnswer,
} from "../answer.js";
import type { GraphQlStatistics } from "../graphql-statistics.js";
import { checkRows, rowsOfGet } from "../guards/check-rows.js";
import type { GraphQlLimits } from "../limits.js";
import type { RequestReading } from "../plain/request-reading.js";
import { compileQuery, type PlannedField, type PlannedRoot } from "./compile-query.js";
import { locationsOf } from "./error-locations.js";
import { JsonBytes } from "./json-bytes.js";
import { RequestLifter } from "./lift-request.js";
import { TemplateCache } from "./template-cache.js";

export interface PreparedQueriesOptions {
  readonly schema: GraphQLSchema;
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

/** Fields are written together up to so many bytes, as rows are. */
const TURN_BYTES = 512 * 1024;

const NOT_PREPARABLE = "not preparable";

type PlannedClass = Extract<PlannedField, { readonly kind: "class" }>;

/** Why a class field has no rows. */
class Failure {
  constructor(readonly thrown: unknown) {}

  static of(thrown: unknown): Failure {
    return new Failure(thrown);
  }
}

type Outcome = readonly GetRow[] | Failure;

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
  readonly #plans: TemplateCache<PreparedQuery | typeof NOT_PREPARABLE>;
  readonly #outputs: AnswerBuffers;

  constructor(options: PreparedQueriesOptions) {
    this.#options = options;
    this.#outputs = new AnswerBuffers(options.limits.answerBytesMax);
    this.#lifter = new RequestLifter(options.limits.preparedTemplateBytesMax);
    this.#plans = new TemplateCache(options.limits.preparedQueriesMax);
  }

  /** The answer, or undefined when the request has to go through graphql-js. */
  execute(body: Buffer, reading: RequestReading, context: RequestContext): Promise<GraphQlAnswer> | undefined {
    const template = this.#lifter.lift(body);
    if (template === undefined) return undefined;
    let plan = this.#plans.get(template);
    if (plan === undefined) {
      const planned = this.#compile(reading);
      plan = planned === undefined ? NOT_PREPARABLE : new PreparedQuery(planned, this.#options, this.#outputs);
      this.#plans.set(template, plan);
    }
    return plan === NOT_PREPARABLE ? undefined : plan.execute(reading, this.#lifter, context);
  }

  #compile(reading: RequestReading): readonly PlannedRoot[] | undefined {
    const valid = reading.valid();
    return valid && compileQuery(this.#options.schema, valid.request, valid.document, this.#lifter);
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
  readonly #classes: readonly PlannedClass[];
  readonly #options: PreparedQueriesOptions;
  readonly #outputs: AnswerBuffers;
  readonly #noErrors: string;

  constructor(roots: readonly PlannedRoot[], options: PreparedQueriesOptions, outputs: AnswerBuffers) {
    this.#roots = roots;
    this.#options = options;
    this.#outputs = outputs;
    this.#classes = roots.flatMap((root) => (root.kind === "get" ? root.fields.filter(isClass) : []));
    this.#noErrors = errorsTail([], options.wire);
  }

  async execute(reading: RequestReading, lifter: RequestLifter, context: RequestContext): Promise<GraphQlAnswer> {
    const { limits, answers, turns } = this.#options;
    // The literals are taken before the first await: the lifter serves the next request then.
    const gets = this.#classes.map((planned) => planned.get.query(lifter.literals));
    const held = answers.begin();
    try {
      let rows = 0;
      for (const get of gets) rows += rowsOfGet(get, limits);
      checkRows(rows, limits);
      const [only] = gets;
      if (only !== undefined && gets.length === 1 && !isCounted(rows)) {
        const outcome = await this.#rows(only, context, held);
        return { status: 200, body: await this.#written(reading, [outcome], context, held) };
      }
      return await turns.run(rows, context, async () => {
        const outcomes = await Promise.all(gets.map((get) => this.#rows(get, context, held)));
        return { status: 200, body: await this.#written(reading, outcomes, context, held) };
      });
    } catch (thrown) {
      return tooLargeAnswer(thrown);
    } finally {
      held.end();
    }
  }

  /** Rejects when the answer grows too large, not when the query fails. */
  async #rows(get: GetQuery, context: RequestContext, held: HeldAnswer): Promise<Outcome> {
    const outcome = await this.#options.query.get(get, new AnswerContext(context, held)).catch(Failure.of);
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
        await setImmediate();
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
    let next = 0;
    let turnEnd = TURN_BYTES;
    out.ascii('{"data":{');
    for (const [i, root] of this.#roots.entries()) {
      out.ascii(`${i === 0 ? "" : ","}"${root.responseName}":`);
      if (root.kind === "constant") {
        out.ascii(root.json);
        continue;
      }
      for (const [j, field] of root.fields.entries()) {
        out.ascii(`${j === 0 ? "{" : ","}"${field.responseName}":`);
        if (field.kind === "constant") {
          out.ascii(field.json);
          continue;
        }
        const failure = yield* writeRows(field, outcomes[next++], out);
        if (failure !== undefined) failures.push({ path: [root.responseName, field.responseName], failure });
        if (out.length < turnEnd) continue;
        yield;
        turnEnd = out.length + TURN_BYTES;
      }
      out.byte(125);
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

/** Writes the rows, or null and says why. Fails with `tooLarge` when the answer is. */
function* writeRows(
  field: PlannedClass,
  outcome: Outcome | undefined,
  out: JsonBytes,
): Generator<void, Failure | undefined> {
  const before = out.length;
  let failure = outcome instanceof Failure ? outcome : undefined;
  if (outcome !== undefined && !(outcome instanceof Failure)) {
    try {
      yield* field.rows.write(outcome, out);
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

function isClass(field: PlannedField): field is PlannedClass {
  return field.kind === "class";
}
