import type { ClassDefinition } from "@shoal/model";
import type { EnabledModules, SearchArgument } from "@shoal/module-api";
import { type FieldNode, GraphQLError, type GraphQLObjectType, type GraphQLSchema, getVariableValues } from "graphql";
import { errorItem, errorsTail, type GraphQlAnswer, type GraphQlWire, refusedAnswer } from "../answer.js";
import type { GraphQlLimits } from "../limits.js";
import type { ReadDocument } from "../reading/read-document.js";
import type { GraphQlRequest } from "../reading/request-body.js";
import { compileAggregate } from "./compile-aggregate.js";
import { compileExplore } from "./compile-explore.js";
import { type CompileScope, constantField, eachField, givenField, objectTypeOf } from "./compile-fields.js";
import { compileGet } from "./compile-get.js";
import { IntrospectionCall } from "./introspection-call.js";
import {
  type AskedField,
  Failure,
  type PlannedCall,
  type PlannedField,
  type PlannedRoot,
  RequestPlan,
} from "./planned-call.js";
import type { WhereReading } from "./read-where.js";
import { type SelectedFields, selectedFields, selectedSubfields } from "./selected-fields.js";

/** What plans are made with. */
export interface CompileParts {
  readonly schema: GraphQLSchema;
  readonly limits: GraphQlLimits;
  readonly wire: GraphQlWire;
  readonly where: WhereReading;
  readonly modules: EnabledModules;
  /** The search arguments of Explore that modules answer. */
  readonly exploreSearches: ReadonlyMap<string, SearchArgument>;
}

/** A class field that is being compiled. */
export interface ClassField extends AskedField {
  readonly definition: ClassDefinition;
  readonly type: GraphQLObjectType;
}

/** A request of which nothing is asked. */
export interface RefusedRequest {
  readonly answer: GraphQlAnswer;
  /** How many the answer has. */
  readonly errors: number;
  /** Whether another schema may let it through. */
  readonly isBySchema?: boolean;
}

/**
 * Compiles a valid request. It is refused when its variables do not fit, and when nobody can say which fields it selects. A field
 * that cannot be asked is a call that has failed.
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
    return { answer: refusedAnswer(values.errors.map(errorItem)), errors: values.errors.length };
  }
  const scope = { schema, fragments: read.fragments, variableValues: values.coerced, failures: [] };
  const compiler = new RequestCompiler(parts, scope, read, { ...variables });
  try {
    const roots = compiler.roots(root, selectedFields(scope, root, selectionSet));
    return new RequestPlan(roots, scope.failures.length > 0);
  } catch (thrown) {
    if (!(thrown instanceof GraphQLError)) throw thrown;
    return { answer: { status: 200, body: `{"data":null${errorsTail([errorItem(thrown)], wire)}` }, errors: 1 };
  }
}

/** As in graphql-js. */
const VARIABLE_ERRORS_MAX = 50;

class RequestCompiler {
  constructor(
    private readonly parts: CompileParts,
    private readonly scope: CompileScope,
    private readonly read: ReadDocument,
    private readonly variables: Readonly<Record<string, unknown>>,
  ) {}

  roots(type: GraphQLObjectType, selected: SelectedFields): readonly PlannedRoot[] {
    return eachField<PlannedRoot>(selected, (responseName, field, nodes) => {
      const name = field.name.value;
      if (name === "__typename") return constantField(responseName, type.name);
      if (name === "Get" || name === "Aggregate") return this.classFields(name, type, responseName, nodes);
      if (name !== "Explore") {
        return new IntrospectionCall(responseName, nodes, this.parts.schema, this.read, this.variables);
      }
      return callOf(responseName, nodes, () => {
        const asked = { ...givenField(this.scope, type, field), responseName, nodes };
        return compileExplore(this.parts, this.scope, objectTypeOf(type, name), asked);
      });
    });
  }

  private classFields(
    root: "Get" | "Aggregate",
    parent: GraphQLObjectType,
    responseName: string,
    nodes: readonly FieldNode[],
  ): PlannedRoot {
    const type = objectTypeOf(parent, root);
    let selected: SelectedFields;
    try {
      selected = selectedSubfields(this.scope, type, nodes);
    } catch (thrown) {
      return { kind: "call", responseName, nodes, bound: new Failure(thrown) };
    }
    return {
      kind: "object",
      responseName,
      fields: eachField(selected, (name, field, inner) => this.classField(root, type, name, field, inner)),
    };
  }

  private classField(
    root: "Get" | "Aggregate",
    parent: GraphQLObjectType,
    responseName: string,
    field: FieldNode,
    nodes: readonly FieldNode[],
  ): PlannedField {
    const name = field.name.value;
    if (name === "__typename") return constantField(responseName, parent.name);
    return callOf(responseName, nodes, () => {
      const given = givenField(this.scope, parent, field);
      const definition = this.parts.where.classOf(name) as ClassDefinition;
      const classField = { ...given, definition, type: objectTypeOf(parent, name), responseName, nodes };
      const compile = root === "Get" ? compileGet : compileAggregate;
      return compile(this.parts, this.scope, classField);
    });
  }
}

function callOf(responseName: string, nodes: readonly FieldNode[], compile: () => PlannedCall): PlannedCall {
  try {
    return compile();
  } catch (thrown) {
    return { kind: "call", responseName, nodes, bound: new Failure(thrown) };
  }
}
