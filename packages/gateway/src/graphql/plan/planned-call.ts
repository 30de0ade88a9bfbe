import type { QueryService } from "@shoal/query";
import type { RequestContext } from "@shoal/runtime";
import type { FieldNode } from "graphql";
import { STEP_LENGTH } from "../../json/write-in-steps.js";
import type { FieldCost } from "../guards/request-cost.js";
import type { AskedField, GivenField, PlannedConstant } from "./compile-fields.js";
import type { JsonBytes } from "./json-bytes.js";

/** A field that one call answers, mostly of the query service. */
export interface PlannedCall {
  readonly kind: "call";
  readonly responseName: string;
  /** Where it stands in the text of the request that was planned. */
  readonly nodes: readonly FieldNode[];
  /** What that request asks, or why it cannot be asked. */
  readonly bound: BoundCall | Failure;
  /** How other requests ask it; absent where they cannot. */
  readonly binding?: CallBinding;
}

/** A call whose values are known. */
export interface BoundCall {
  readonly cost: FieldCost;
  run(query: QueryService, context: RequestContext): Promise<WriteResponse>;
}

/** A call that can be made with other values of its arguments. */
export interface CallBinding {
  readonly field: GivenField;
  /** Fields below with arguments of their own. */
  readonly inner: readonly GivenField[];
  /**
   * The call with these coerced arguments, and those of {@link inner}. `node` is where they stand when their integers may be
   * beyond 2^53. Fails with `invalid`.
   */
  bind(args: object, innerArguments: readonly object[], node?: FieldNode): BoundCall;
}

/** Fails as `bind` does. */
export function plannedCall(field: AskedField, inner: CallBinding["inner"], bind: CallBinding["bind"]): PlannedCall {
  const { responseName, node, nodes, given } = field;
  const innerArguments = inner.map((each) => each.given);
  const bound = bind(given, innerArguments, node);
  return { kind: "call", responseName, nodes, bound, binding: { field, inner, bind } };
}

/**
 * Writes the response of a call; yields now and then, so that a large one need not hold up everybody else. Fails with
 * `dataLoss` when stored bytes are no JSON; what was written by then is the caller's to remove.
 */
export type WriteResponse = (out: JsonBytes) => Iterable<void>;

/** Writes a list as JSON; yields now and then between two items, and where an item does. */
export function* writeList<T>(
  items: readonly T[],
  out: JsonBytes,
  write: (item: T) => Iterable<void> | undefined,
): Generator<void, void> {
  let stepEnd = out.length + STEP_LENGTH;
  out.byte(91);
  for (const [i, item] of items.entries()) {
    if (i > 0) out.byte(44);
    const rest = write(item);
    if (rest !== undefined) yield* rest;
    if (out.length < stepEnd) continue;
    yield;
    stepEnd = out.length + STEP_LENGTH;
  }
  out.byte(93);
}

/** Why a field has no response. */
export class Failure {
  constructor(readonly thrown: unknown) {}

  static of(thrown: unknown): Failure {
    return new Failure(thrown);
  }
}

/** A constant text, or what a call answers. */
export type PlannedField<Call = PlannedCall> = PlannedConstant | Call;

/** A member of `data`: the same, or a `Get` or `Aggregate` with its fields. */
export type PlannedRoot<Call = PlannedCall> =
  | PlannedField<Call>
  | { readonly kind: "object"; readonly responseName: string; readonly fields: readonly PlannedField<Call>[] };

/** A member of `data` where it is known elsewhere which calls are made. */
export type ResponseRoot = PlannedRoot<Pick<PlannedCall, "kind" | "responseName">>;

/** A request as one plain value: what is asked, and how what comes back is answered. */
export class RequestPlan {
  /** In the order of the response. */
  readonly calls: readonly PlannedCall[];

  constructor(
    readonly roots: readonly PlannedRoot[],
    /** Whether the selection of an object below a row failed: that is answered with places in the text. */
    readonly hasFailures: boolean,
  ) {
    this.calls = roots.flatMap((root) => (root.kind === "object" ? root.fields : root)).filter(isCall);
  }

  /** What may be kept: nothing of the request, neither its text nor its values. */
  get response(): readonly ResponseRoot[] {
    return this.roots.map((root) =>
      root.kind === "object" ? { ...root, fields: root.fields.map(withoutCall) } : withoutCall(root),
    );
  }
}

function withoutCall(field: PlannedField) {
  return field.kind === "call" ? { kind: field.kind, responseName: field.responseName } : field;
}

function isCall(field: PlannedField): field is PlannedCall {
  return field.kind === "call";
}
