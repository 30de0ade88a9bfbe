import type { RequestContext } from "@shoal/runtime";
import { execute, type FieldNode, type GraphQLError, type GraphQLSchema, Kind } from "graphql";
import { TURN_LENGTH } from "../../json/write-in-turns.js";
import type { ReadDocument } from "../reading/read-document.js";
import { Introspection, introspectInTurns } from "./introspect-in-turns.js";
import type { BoundCall, PlannedCall, WriteAnswer } from "./planned-call.js";

/** What graphql-js says about the schema where it could not answer all of it. */
export class IntrospectionErrors {
  constructor(
    /** With their paths. */
    readonly errors: readonly GraphQLError[],
    /** Whether nothing of the request is answered: `__schema` may not be null. */
    readonly isAll: boolean,
    /** Else the value that is answered, as JSON. */
    readonly json: string,
  ) {}
}

/** `__schema` or `__type`, the one thing that graphql-js executes. */
export class IntrospectionCall implements PlannedCall, BoundCall {
  readonly kind = "call";
  readonly bound = this;
  readonly cost = { rows: 0, targets: 0 };

  constructor(
    readonly responseName: string,
    readonly nodes: readonly FieldNode[],
    private readonly schema: GraphQLSchema,
    private readonly read: ReadDocument,
    private readonly variables: Readonly<Record<string, unknown>>,
  ) {}

  /** Throws {@link IntrospectionErrors}. */
  async run(_query: unknown, context: RequestContext): Promise<WriteAnswer> {
    introspectInTurns();
    const operation = {
      ...this.read.operation,
      selectionSet: { kind: Kind.SELECTION_SET, selections: this.nodes },
    } as const;
    const introspection = Introspection.of(context);
    const { data, errors = [] } = await execute({
      schema: this.schema,
      document: { ...this.read.document, definitions: [operation, ...Object.values(this.read.fragments)] },
      variableValues: this.variables,
      contextValue: introspection,
    });
    introspection.check();
    const value = data?.[this.responseName];
    if (errors.length > 0) throw new IntrospectionErrors(errors, !data, JSON.stringify(value ?? null));
    return function* (out) {
      let turnEnd = out.length + TURN_LENGTH;
      for (const part of answerParts(value)) {
        out.utf8(part);
        if (out.length < turnEnd) continue;
        yield;
        turnEnd = out.length + TURN_LENGTH;
      }
    };
  }
}

/** `__schema`, a list of it, a type, a list of that. */
const LEVELS = 4;

/** The JSON of what introspection answers, in parts no longer than a field of a type. */
export function* answerParts(value: unknown, levels = LEVELS): Generator<string, void> {
  if (typeof value !== "object" || value === null || levels === 0) {
    yield JSON.stringify(value);
    return;
  }
  const isList = Array.isArray(value);
  let separator = isList ? "[" : "{";
  for (const [name, member] of Object.entries(value)) {
    yield isList ? separator : `${separator}${JSON.stringify(name)}:`;
    yield* answerParts(member, levels - 1);
    separator = ",";
  }
  if (separator !== ",") yield separator;
  yield isList ? "]" : "}";
}
