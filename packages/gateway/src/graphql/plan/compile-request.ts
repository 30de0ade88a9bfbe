import type { ClassDefinition } from "@shoal/model";
import { type FieldNode, GraphQLError, type GraphQLObjectType, getVariableValues } from "graphql";
import { errorItem, errorsTail, type GraphQlResponse, refusedResponse, tooLargeResponse } from "../graphql-response.js";
import { checkClassFields } from "../guards/request-cost.js";
import type { ReadDocument } from "../reading/read-document.js";
import type { GraphQlRequest } from "../reading/request-body.js";
import { compileAggregate } from "./compile-aggregate.js";
import { compileExplore } from "./compile-explore.js";
import {
  type CompileParts,
  type CompileScope,
  constantField,
  eachField,
  givenField,
  objectTypeOf,
} from "./compile-fields.js";
import { compileGet } from "./compile-get.js";
import { compileIntrospection } from "./introspection.js";
import { Failure, type PlannedCall, type PlannedRoot, RequestPlan } from "./planned-call.js";
import { type SelectedFields, selectedFields, selectedSubfields } from "./selected-fields.js";

/** A request of which nothing is asked. */
export interface RefusedRequest {
  readonly response: GraphQlResponse;
  /** How many the response has. */
  readonly errors: number;
  /** Whether another schema may let it through. */
  readonly isBySchema?: boolean;
}

/**
 * Compiles a valid request. It is refused when its variables do not fit, when it has too many calls, and when nobody can say which
 * fields it selects. A field that cannot be asked is a call that has failed.
 */
export function compileRequest(
  parts: CompileParts,
  { variables }: GraphQlRequest,
  read: ReadDocument,
): RequestPlan | RefusedRequest {
  const { schema, wire } = parts;
  const root = schema.getQueryType() as GraphQLObjectType;
  const { variableDefinitions = [], selectionSet } = read.operation;
  const values = getVariableValues(schema, variableDefinitions, { ...variables }, { maxErrors: VARIABLE_ERRORS_MAX });
  if (values.errors !== undefined) {
    return { response: refusedResponse(values.errors.map(errorItem)), errors: values.errors.length };
  }
  const scope = { schema, fragments: read.fragments, variableValues: values.coerced, failures: [], given: new Map() };
  const compiler = new RequestCompiler(parts, scope);
  try {
    const roots = compiler.roots(root, selectedFields(scope, root, selectionSet));
    return new RequestPlan(roots, scope.failures.length > 0);
  } catch (thrown) {
    if (!(thrown instanceof GraphQLError)) return { response: tooLargeResponse(thrown), errors: 0 };
    return { response: { status: 200, body: `{"data":null${errorsTail([errorItem(thrown)], wire)}` }, errors: 1 };
  }
}

/** As in graphql-js. */
const VARIABLE_ERRORS_MAX = 50;

type ClassRoot = "Get" | "Aggregate";

/** A selected field, and where it stands: the first place says what it is. */
type Nodes = readonly FieldNode[];

/** A member of `data` that is selected and not compiled yet. */
interface SelectedRoot {
  /** Fields that are calls of the query service. */
  readonly calls: number;
  compile(): PlannedRoot;
}

class RequestCompiler {
  constructor(
    private readonly parts: CompileParts,
    private readonly scope: CompileScope,
  ) {}

  /** Fails with `tooLarge` before anything is compiled. */
  roots(type: GraphQLObjectType, selected: SelectedFields): readonly PlannedRoot[] {
    const roots = eachField(selected, (name, field, nodes) => this.root(type, name, field, nodes));
    const calls = roots.reduce((sum, root) => sum + root.calls, 0);
    checkClassFields(calls, this.parts.limits);
    return roots.map(({ compile }) => compile());
  }

  private root(type: GraphQLObjectType, responseName: string, field: FieldNode, nodes: Nodes): SelectedRoot {
    const name = field.name.value;
    if (name === "__typename") return { calls: 0, compile: () => constantField(responseName, type.name) };
    if (name === "Get" || name === "Aggregate")
      return this.classFields(name, objectTypeOf(type, name), responseName, nodes);
    if (name !== "Explore") return { calls: 0, compile: () => compileIntrospection(this.scope, responseName, nodes) };
    const compile = () => {
      const asked = { ...givenField(this.scope, type, field), responseName, nodes };
      return compileExplore(this.parts, this.scope, objectTypeOf(type, name), asked);
    };
    return { calls: 1, compile: () => callOf(responseName, nodes, compile) };
  }

  private classFields(root: ClassRoot, type: GraphQLObjectType, responseName: string, nodes: Nodes): SelectedRoot {
    let selected: SelectedFields;
    try {
      selected = selectedSubfields(this.scope, type, nodes);
    } catch (thrown) {
      return { calls: 0, compile: () => ({ kind: "call", responseName, nodes, bound: new Failure(thrown) }) };
    }
    const isCall = ([field]: readonly FieldNode[]) => field?.name.value !== "__typename";
    return {
      calls: [...selected.values()].filter(isCall).length,
      compile: () => {
        const fields = eachField(selected, (name, field, inner) => {
          if (field.name.value === "__typename") return constantField(name, type.name);
          return callOf(name, inner, () => this.classField(root, type, name, field, inner));
        });
        return { kind: "object", responseName, fields };
      },
    };
  }

  private classField(root: ClassRoot, parent: GraphQLObjectType, responseName: string, field: FieldNode, nodes: Nodes) {
    const name = field.name.value;
    const given = givenField(this.scope, parent, field);
    const definition = this.parts.where.classOf(name) as ClassDefinition;
    const classField = { ...given, definition, type: objectTypeOf(parent, name), responseName, nodes };
    const compile = root === "Get" ? compileGet : compileAggregate;
    return compile(this.parts, this.scope, classField);
  }
}

function callOf(responseName: string, nodes: Nodes, compile: () => PlannedCall): PlannedCall {
  try {
    return compile();
  } catch (thrown) {
    return { kind: "call", responseName, nodes, bound: new Failure(thrown) };
  }
}
