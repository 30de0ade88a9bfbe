import type { RequestContext } from "@shoal/runtime";
import type { GraphQlResponse } from "../graphql-response.js";
import type { GraphQlLimits } from "../limits.js";
import type { PlanExecution } from "../plan/plan-execution.js";
import {
  type BoundCall,
  type CallBinding,
  Failure,
  type PlannedCall,
  type ResponseRoot,
} from "../plan/planned-call.js";
import type { PlannedRequest, RequestReading } from "../reading/request-reading.js";
import { argumentTemplate, type Template } from "./argument-template.js";
import { LiteralBindings } from "./bind-literals.js";
import { RequestLifter } from "./lift-request.js";
import { LITERALS_MAX, type LiftedLiterals } from "./lifted-literals.js";
import { TemplateCache } from "./template-cache.js";

/** Characters of a template, on average at most: what is compiled from one takes more than a hundred times its length. */
const TEMPLATE_CHARS = 512;

const NOT_PREPARABLE = "not preparable";

/** Its values are refused; other requests of the template may be fine. */
const REFUSED = "refused";

/** Gives a call the values of a request. Fails as compiling that request's field would. */
type Binder = (literals: LiftedLiterals) => BoundCall;

/** What requests of a template answer, and how their calls are made. */
interface PreparedQuery {
  readonly roots: readonly ResponseRoot[];
  readonly binders: readonly Binder[];
}

/**
 * Answers requests whose template (all but the literals) was compiled before, without parsing, validating or compiling
 * GraphQL again. One instance serves one schema.
 */
export class PreparedQueries {
  readonly #lifter: RequestLifter;
  /** Whatever other numbers a template and its literals hold, so many in vectors pass no limit. */
  readonly #vectorNumbersMax: number;
  readonly #prepared: TemplateCache<PreparedQuery | typeof NOT_PREPARABLE>;

  constructor(
    limits: GraphQlLimits,
    private readonly execution: PlanExecution,
    private readonly onFault: (thrown: unknown, context: RequestContext) => void,
  ) {
    const { graphqlNumbersMax, preparedTemplateBytesMax, preparedQueriesMax } = limits;
    this.#lifter = new RequestLifter(preparedTemplateBytesMax);
    this.#vectorNumbersMax = graphqlNumbersMax - preparedTemplateBytesMax / 2 - LITERALS_MAX;
    this.#prepared = new TemplateCache(preparedQueriesMax, preparedQueriesMax * TEMPLATE_CHARS);
  }

  /** The response, or undefined when the request has to go through graphql-js. */
  execute(body: Buffer, reading: RequestReading, context: RequestContext): Promise<GraphQlResponse> | undefined {
    const template = this.#lifter.lift(body);
    const { literals } = this.#lifter;
    if (template === undefined || literals.vectorNumbers > this.#vectorNumbersMax) return undefined;
    let prepared = this.#prepared.get(template);
    if (prepared === undefined) {
      const made = this.#prepare(reading, context);
      if (made === REFUSED) return undefined;
      prepared = made;
      this.#prepared.set(template, prepared);
    }
    if (prepared === NOT_PREPARABLE) return undefined;
    // The literals are taken before the first await: the lifter serves the next request then.
    const calls = prepared.binders.map((bind) => boundCall(bind, literals));
    return this.execution.execute({ roots: prepared.roots, calls, reading }, context);
  }

  #prepare(reading: RequestReading, context: RequestContext): PreparedQuery | typeof REFUSED | typeof NOT_PREPARABLE {
    try {
      const read = reading.read();
      // It may be the literals: too many numbers, too long a text, a value that a field refuses.
      if ("response" in read || read.plan.calls.some(({ bound }) => bound instanceof Failure)) return REFUSED;
      const binders = bindersOf(read, this.#lifter);
      return binders === undefined ? NOT_PREPARABLE : { roots: read.plan.response, binders };
    } catch (thrown) {
      this.onFault(thrown, context);
      return REFUSED;
    }
  }
}

function boundCall(bind: Binder, literals: LiftedLiterals): BoundCall | Failure {
  try {
    return bind(literals);
  } catch (thrown) {
    return new Failure(thrown);
  }
}

/**
 * How the calls of a plan get the values of other requests of its template; undefined when these cannot be answered without
 * graphql-js: introspection, several operations, and literals in places where their kind does not settle whether they are
 * valid.
 */
function bindersOf({ request, document, plan }: PlannedRequest, lifter: RequestLifter): readonly Binder[] | undefined {
  if (plan.hasFailures || document.operationCount !== 1) return undefined;
  const bindings = LiteralBindings.of(lifter, document.document, document.operation, request.variables);
  if (bindings === undefined) return undefined;
  const binders = plan.calls.flatMap((call) => binderOf(call, bindings) ?? []);
  return binders.length === plan.calls.length && bindings.areAllUsed ? binders : undefined;
}

function binderOf({ binding }: PlannedCall, bindings: LiteralBindings): Binder | undefined {
  if (binding === undefined) return undefined;
  const { field, inner, bind } = binding;
  const own = argumentTemplate(field, bindings);
  const below = inner.flatMap((each) => argumentTemplate(each, bindings) ?? []);
  return own === undefined || below.length < inner.length ? undefined : binder(own, below, bind);
}

/** A function of its own: it is kept, and with it all that is in sight. */
function binder(own: Template, below: readonly Template[], bind: CallBinding["bind"]): Binder {
  return (literals) =>
    bind(
      own(literals),
      below.map((template) => template(literals)),
    );
}
