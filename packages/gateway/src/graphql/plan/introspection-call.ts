import type { RequestContext } from "@shoal/runtime";
import { type ExecutionResult, execute, type FieldNode, type GraphQLError, type GraphQLSchema, Kind } from "graphql";
import { TURN_LENGTH } from "../../json/write-in-turns.js";
import type { ReadDocument } from "../reading/read-document.js";
import { Introspection, introspectInTurns } from "./introspect-in-turns.js";
import type { PlannedCall, WriteAnswer } from "./planned-call.js";

/** What graphql-js says about the schema where it could not answer all of it. */
export class IntrospectionErrors {
  constructor(
    /** With their paths. */
    readonly errors: readonly GraphQLError[],
    /** Whether nothing of the request is answered: `__schema` may not be null. */
    readonly isAll: boolean,
    /** Writes what is answered else. */
    readonly write: WriteAnswer,
  ) {}
}

const NOTHING = { rows: 0, targets: 0 };

/** All that a request asks about the schema, the one thing that graphql-js executes: once, for it coerces all variables each time. */
export class IntrospectionRequest {
  readonly #nodes: FieldNode[] = [];
  #answer: ReturnType<IntrospectionRequest["execute"]> | undefined;

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly read: ReadDocument,
    private readonly variables: Readonly<Record<string, unknown>>,
  ) {}

  /** `__schema` or `__type` under a name. */
  call(responseName: string, nodes: readonly FieldNode[]): PlannedCall {
    this.#nodes.push(...nodes);
    const run = async (_query: unknown, context: RequestContext) => {
      this.#answer ??= this.execute(context);
      return answerOf(responseName, await this.#answer);
    };
    return { kind: "call", responseName, nodes, bound: { cost: NOTHING, run } };
  }

  private async execute(context: RequestContext): Promise<ExecutionResult> {
    introspectInTurns();
    const operation = {
      ...this.read.operation,
      selectionSet: { kind: Kind.SELECTION_SET, selections: this.#nodes },
    } as const;
    const introspection = new Introspection(context);
    const answer = await execute({
      schema: this.schema,
      document: { ...this.read.document, definitions: [operation, ...Object.values(this.read.fragments)] },
      variableValues: this.variables,
      contextValue: introspection,
    });
    introspection.check();
    return answer;
  }
}

/** Throws {@link IntrospectionErrors}. */
function answerOf(responseName: string, { data, errors = [] }: ExecutionResult): WriteAnswer {
  const value = data?.[responseName] ?? null;
  const write: WriteAnswer = function* (out) {
    let turnEnd = out.length + TURN_LENGTH;
    for (const part of answerParts(value)) {
      out.utf8(part);
      if (out.length < turnEnd) continue;
      yield;
      turnEnd = out.length + TURN_LENGTH;
    }
  };
  const own = errors.filter(({ path }) => path === undefined || path[0] === responseName);
  if (own.length > 0) throw new IntrospectionErrors(own, !data, write);
  return write;
}

/** The JSON of what introspection answers; a part has no list of objects inside. */
export function* answerParts(value: unknown): Generator<string, void> {
  if (!holdsObjects(value)) {
    yield JSON.stringify(value);
    return;
  }
  const isList = Array.isArray(value);
  let separator = isList ? "[" : "{";
  for (const [name, member] of Object.entries(value as object)) {
    yield isList ? separator : `${separator}${JSON.stringify(name)}:`;
    yield* answerParts(member);
    separator = ",";
  }
  yield isList ? "]" : "}";
}

/** Whether a list of objects is inside of it. */
function holdsObjects(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some((element) => typeof element === "object" && element !== null);
  return Object.values(value).some(holdsObjects);
}
