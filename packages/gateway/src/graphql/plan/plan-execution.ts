import { ShoalError } from "@shoal/model";
import type { QueryService } from "@shoal/query";
import { eventLoop, InnerContext, LateSignal, type RequestContext } from "@shoal/runtime";
import { GraphQLError } from "graphql";
import { STEP_LENGTH } from "../../json/write-in-steps.js";
import type { HeldResponse, ResponseBudget } from "../../response-budget.js";
import type { RowGate } from "../../row-gate.js";
import {
  type ErrorItem,
  errorItem,
  errorsTail,
  failureMessage,
  type GraphQlResponse,
  type GraphQlWire,
  tooLargeResponse,
} from "../graphql-response.js";
import { RequestCost } from "../guards/request-cost.js";
import type { GraphQlLimits } from "../limits.js";
import type { RequestReading } from "../reading/request-reading.js";
import { pathsOf } from "./failed-places.js";
import { IntrospectionErrors } from "./introspection.js";
import { JsonBytes } from "./json-bytes.js";
import { type BoundCall, Failure, type ResponseRoot, type WriteResponse } from "./planned-call.js";

/** Counts of the GraphQL queries of a gateway. */
export class GraphQlStatistics {
  /** Answered by a prepared query. */
  prepared = 0;
  /** Everything else, refused ones included. */
  plain = 0;
  /** Entries of `errors` in responses. */
  errors = 0;
}

export interface PlanExecutionParts {
  readonly query: QueryService;
  readonly wire: GraphQlWire;
  readonly limits: GraphQlLimits;
  readonly responses: ResponseBudget;
  /** Called with everything that was thrown and is no ShoalError. */
  readonly onFault: (thrown: unknown, context: RequestContext) => void;
  /** Of reads of many rows. */
  readonly rowGate: RowGate;
  readonly statistics: GraphQlStatistics;
}

/** Responses larger than this do not leave their buffer behind. */
const RESPONSE_BYTES_KEPT_MAX = 1024 * 1024;

type Outcome = WriteResponse | Failure;

/** A field that failed; its place in the text is asked of the plan of its request. */
interface FailedField {
  readonly path: readonly string[];
  readonly call: number;
  readonly thrown: unknown;
}

/** A plan with the calls of one request. */
export interface BoundPlan {
  readonly roots: readonly ResponseRoot[];
  /** In the order of the response. */
  readonly calls: readonly (BoundCall | Failure)[];
  readonly reading: RequestReading;
}

/** Executes plans: asks the query service, and writes what it answers as JSON. */
export class PlanExecution {
  /** What answers are written in, one after another. */
  #out: JsonBytes;

  constructor(private readonly parts: PlanExecutionParts) {
    this.#out = this.#newOut();
  }

  async execute(bound: BoundPlan, context: RequestContext): Promise<GraphQlResponse> {
    const { responses, rowGate } = this.parts;
    const { calls } = bound;
    const held = responses.begin(context);
    try {
      const rows = this.checkedRows(calls);
      const [only] = calls;
      return await rowGate.run(rows, context, async () => {
        // Most requests are one call.
        const outcomes =
          only !== undefined && calls.length === 1
            ? [await this.#outcome(only, new InnerContext(context, { rowBytes: held }), held)]
            : await this.#allOutcomes(calls, context, held);
        return { status: 200, body: await this.#written(bound, outcomes, context, held) };
      });
    } catch (thrown) {
      return tooLargeResponse(thrown);
    } finally {
      held.end();
    }
  }

  /** The rows that calls reach together. Fails with `tooLarge` when they ask too much for one request. */
  checkedRows(calls: BoundPlan["calls"]): number {
    const cost = new RequestCost();
    for (const call of calls) if (!(call instanceof Failure)) cost.add(call.cost);
    cost.check(this.parts.limits);
    return cost.rows;
  }

  /** As {@link #outcome} of each; when that rejects for one, the others end. */
  async #allOutcomes(
    calls: BoundPlan["calls"],
    context: RequestContext,
    held: HeldResponse,
  ): Promise<readonly Outcome[]> {
    const late = new LateSignal(context);
    const inner = new InnerContext(context, { rowBytes: held, late });
    try {
      return await Promise.all(calls.map((call) => this.#outcome(call, inner, held)));
    } catch (thrown) {
      late.abort(thrown);
      throw thrown;
    } finally {
      late.end();
    }
  }

  /** Rejects when the response grows too large, not when the query fails. */
  async #outcome(call: BoundCall | Failure, context: RequestContext, held: HeldResponse): Promise<Outcome> {
    if (call instanceof Failure) return call;
    const outcome = await call.run(this.parts.query, context).catch(Failure.of);
    const thrown = outcome instanceof Failure ? outcome.thrown : undefined;
    // A field that could not be answered now fails the whole request: clients look for 429 and `Retry-After` (targets S10).
    if (thrown instanceof ShoalError && thrown.code === "overloaded") held.refuse(thrown);
    if (held.refusal !== undefined) throw held.refusal;
    return outcome;
  }

  async #written(
    bound: BoundPlan,
    outcomes: readonly Outcome[],
    context: RequestContext,
    held: HeldResponse,
  ): Promise<Buffer> {
    const out = this.#out;
    out.truncate(0);
    let isShared = true;
    try {
      const writing = this.#write(bound, outcomes, out, context);
      while (writing.next().done !== true) {
        if (isShared) this.#out = this.#newOut();
        isShared = false;
        held.setText(out.length);
        await eventLoop.next(context.share);
        context.signal?.throwIfAborted();
      }
      return out.take();
    } catch (thrown) {
      // It may have grown.
      if (isShared) this.#out = this.#newOut();
      throw thrown;
    }
  }

  #newOut(): JsonBytes {
    const { answerBytesMax } = this.parts.limits;
    return new JsonBytes(Math.min(RESPONSE_BYTES_KEPT_MAX, answerBytesMax), answerBytesMax);
  }

  *#write(
    bound: BoundPlan,
    outcomes: readonly Outcome[],
    out: JsonBytes,
    context: RequestContext,
  ): Generator<void, void> {
    const failures: FailedField[] = [];
    let stepEnd = STEP_LENGTH;
    let next = 0;
    let isNothing = false;
    out.ascii('{"data":{');
    for (const [i, root] of bound.roots.entries()) {
      out.ascii(`${i === 0 ? "" : ","}"${root.responseName}":`);
      const fields = root.kind === "object" ? root.fields : [root];
      if (root.kind === "object") out.byte(123);
      for (const [j, field] of fields.entries()) {
        if (root.kind === "object") out.ascii(`${j === 0 ? "" : ","}"${field.responseName}":`);
        if (field.kind === "constant") {
          out.ascii(field.json);
          continue;
        }
        const call = next++;
        const thrown = yield* writeOutcome(outcomes[call], out);
        const path = root.kind === "object" ? [root.responseName, field.responseName] : [root.responseName];
        if (thrown instanceof IntrospectionErrors) {
          isNothing ||= thrown.isAll;
          for (const error of thrown.errors)
            failures.push({ path: error.path?.map(String) ?? path, call, thrown: error });
        } else if (thrown !== undefined) failures.push({ path, call, thrown });
        if (out.length < stepEnd) continue;
        yield;
        stepEnd = out.length + STEP_LENGTH;
      }
      if (root.kind === "object") out.byte(125);
    }
    out.byte(125);
    if (out.failures.length > 0) failures.push(...(yield* failuresIn(out)));
    if (isNothing) {
      out.truncate(0);
      out.ascii('{"data":null');
    }
    if (failures.length === 0) out.ascii(errorsTail([], this.parts.wire));
    else out.utf8(errorsTail(this.#errorItems(bound, failures, context), this.parts.wire));
  }

  #errorItems({ reading }: BoundPlan, failures: readonly FailedField[], context: RequestContext): readonly ErrorItem[] {
    this.parts.statistics.errors += failures.length;
    const read = reading.read();
    return failures.map(({ path, call, thrown }) => {
      // It knows its own place: that of a directive's condition, say.
      if (thrown instanceof GraphQLError && isOwn(thrown)) return { ...errorItem(thrown), path };
      if (!(thrown instanceof ShoalError)) this.parts.onFault(thrown, context);
      const nodes = ("plan" in read && read.plan.calls[call]?.nodes) || [];
      return { ...errorItem(new GraphQLError(failureMessage(thrown), { nodes })), path };
    });
  }
}

/** Whether it is an error of the request, and not around a fault of ours. */
function isOwn({ originalError }: GraphQLError): boolean {
  return !originalError || originalError instanceof GraphQLError || originalError instanceof ShoalError;
}

/** Writes the response, or null and says why. Fails with `tooLarge` when the response is. */
function* writeOutcome(outcome: Outcome | undefined, out: JsonBytes): Generator<void, unknown> {
  const before = out.length;
  let thrown: unknown;
  if (outcome instanceof Failure) thrown = outcome.thrown;
  else if (outcome !== undefined) {
    try {
      yield* outcome(out);
      return undefined;
    } catch (failed) {
      if (failed instanceof ShoalError && failed.code === "tooLarge") throw failed;
      if (failed instanceof IntrospectionErrors) return failed;
      out.truncate(before);
      thrown = failed;
    }
  }
  out.ascii("null");
  return thrown;
}

/** Values below rows that failed, in the order of the response. */
function* failuresIn(out: JsonBytes): Generator<void, readonly FailedField[]> {
  const { failures } = out;
  const paths = yield* pathsOf(
    out.written,
    failures.map(({ at }) => at),
  );
  return failures.map(({ error }, i) => ({ path: paths[i] ?? [], call: -1, thrown: error }));
}
