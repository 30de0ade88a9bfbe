import type { BoundCall, CallBinding, PlannedCall } from "../plan/planned-call.js";
import type { PlannedRequest } from "../reading/request-reading.js";
import { argumentTemplate, type Template } from "./argument-template.js";
import { LiteralBindings } from "./bind-literals.js";
import type { RequestLifter } from "./lift-request.js";
import type { LiftedLiterals } from "./lifted-literals.js";

/** Gives a call the values of a request. Fails as compiling that request's field would. */
export type Binder = (literals: LiftedLiterals) => BoundCall;

/**
 * How the calls of a plan get the values of other requests of its template; undefined when these cannot be answered without
 * graphql-js: introspection, several operations, and literals in places where their kind does not settle whether they are
 * valid.
 */
export function bindersOf(
  { request, document, plan }: PlannedRequest,
  lifter: RequestLifter,
): readonly Binder[] | undefined {
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
