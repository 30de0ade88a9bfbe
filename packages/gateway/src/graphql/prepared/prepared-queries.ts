import { setImmediate } from "node:timers/promises";
import { ShoalError } from "@shoal/model";
import type { GetRow, QueryService } from "@shoal/query";
import type { RequestContext } from "@shoal/rpc";
import type { GraphQLSchema } from "graphql";
import { type ErrorItem, errorsTail, failureMessage, type GraphQlAnswer, type GraphQlWire } from "../answer.js";
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
  readonly onFault: (thrown: unknown) => void;
}

/** Answers larger than this do not leave their buffer behind. */
const ANSWER_BYTES_KEPT_MAX = 1024 * 1024;

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
  readonly #outputs = new AnswerBuffers();

  constructor(options: PreparedQueriesOptions) {
    this.#options = options;
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
  #current = new JsonBytes(ANSWER_BYTES_KEPT_MAX);

  get current(): JsonBytes {
    return this.#current;
  }

  /** Leaves the current one to its answer: others get a new one. */
  detach(): void {
    this.#current = new JsonBytes(ANSWER_BYTES_KEPT_MAX);
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
    const { query } = this.#options;
    // The literals are taken before the first await: the lifter serves the next request then.
    const gets = this.#classes.map((planned) => planned.get.query(lifter.literals));
    const outcomes =
      gets.length === 1 && gets[0] !== undefined
        ? [await query.get(gets[0], context).catch(Failure.of)]
        : await Promise.all(gets.map((get) => query.get(get, context).catch(Failure.of)));
    const out = this.#outputs.current;
    out.truncate(0);
    const writing = this.#write(reading, outcomes, out);
    if (writing.next().done !== true) {
      this.#outputs.detach();
      do await setImmediate();
      while (writing.next().done !== true);
    }
    return { status: 200, body: out.take() };
  }

  *#write(reading: RequestReading, outcomes: readonly Outcome[], out: JsonBytes): Generator<void, void> {
    const failures: FailedField[] = [];
    let next = 0;
    out.ascii('{"data":{');
    for (const [i, root] of this.#roots.entries()) {
      out.ascii(`${i === 0 ? "" : ","}"${root.responseName}":`);
      if (root.kind === "constant") {
        out.ascii(root.json);
        continue;
      }
      for (const [j, field] of root.fields.entries()) {
        out.ascii(`${j === 0 ? "{" : ","}"${field.responseName}":`);
        if (field.kind === "constant") out.ascii(field.json);
        else {
          const failure = yield* writeRows(field, outcomes[next++], out);
          if (failure !== undefined) failures.push({ path: [root.responseName, field.responseName], failure });
        }
      }
      out.byte(125);
    }
    out.byte(125);
    if (failures.length === 0) out.ascii(this.#noErrors);
    else out.utf8(errorsTail(this.#errorItems(reading, failures), this.#options.wire));
  }

  #errorItems(reading: RequestReading, failures: readonly FailedField[]): readonly ErrorItem[] {
    const locate = locationsOf(this.#options.schema, reading);
    return failures.map(({ path, failure: { thrown } }) => {
      if (!(thrown instanceof ShoalError)) this.#options.onFault(thrown);
      return { locations: locate(path), message: failureMessage(thrown), path };
    });
  }
}

/** Writes the rows, or null and says why. */
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
