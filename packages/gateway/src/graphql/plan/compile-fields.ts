import { type ClassDefinition, ShoalError } from "@shoal/model";
import {
  type FieldNode,
  type GraphQLArgument,
  GraphQLError,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  isObjectType,
} from "graphql";
import type { GraphQlWire } from "../graphql-response.js";
import type { GraphQlLimits } from "../limits.js";
import type { WhereReading } from "./read-where.js";
import { type SelectedFields, type SelectionScope, selectedSubfields } from "./selected-fields.js";

/** What plans are made with. */
export interface CompileParts {
  readonly schema: GraphQLSchema;
  readonly limits: GraphQlLimits;
  readonly wire: GraphQlWire;
  readonly where: WhereReading;
}

/** What the fields of one request are compiled with. */
export interface CompileScope extends SelectionScope {
  /** What is wrong with the selections of objects below a row; grows while they are compiled. */
  readonly failures: GraphQLError[];
  /** Coerced arguments of fields: one in a fragment may be asked for at many places, with a long vector. */
  readonly given: Map<FieldNode, object>;
}

/** The fields of an object below a row; or why nobody can say which they are, which is the response wherever there is such an object. */
export type Selection<T> = readonly T[] | GraphQLError;

/** The results for all fields, in the order of the response. */
export function eachField<T>(selected: SelectedFields, compile: CompileField<T>): readonly T[] {
  return [...selected].map(([responseName, nodes], i) => compile(responseName, nodes[0] as FieldNode, nodes, i));
}

type CompileField<T> = (responseName: string, field: FieldNode, nodes: readonly FieldNode[], index: number) => T;

/** The same for the fields of an object below a row: a directive without a condition fails that object alone. */
export function eachFieldBelow<T>(
  scope: CompileScope,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
  compile: CompileField<T>,
): Selection<T> {
  let selected: SelectedFields;
  try {
    selected = selectedSubfields(scope, type, nodes);
  } catch (thrown) {
    if (!(thrown instanceof GraphQLError)) throw thrown;
    scope.failures.push(thrown);
    return thrown;
  }
  return eachField(selected, compile);
}

/** The object type of a field of a valid document, in a list or not. */
export function objectTypeOf(parent: GraphQLObjectType, field: string): GraphQLObjectType {
  const type = getNamedType(parent.getFields()[field]?.type);
  if (isObjectType(type)) return type;
  throw new ShoalError("internal", `the field '${field}' of '${parent.name}' is no object`);
}

/** A field with its arguments, and what these are. */
export interface GivenField {
  readonly node: FieldNode;
  readonly args: readonly GraphQLArgument[];
  /** Coerced. */
  readonly given: object;
}

/** `node` is a field of a valid document. */
export function givenField(scope: CompileScope, type: GraphQLObjectType, node: FieldNode): GivenField {
  const field = type.getFields()[node.name.value] as GraphQLField<unknown, unknown>;
  return { node, args: field.args, given: argumentsOf(scope, field, node) };
}

/** The coerced arguments of a field. */
export function argumentsOf(scope: CompileScope, field: GraphQLField<unknown, unknown>, node: FieldNode): object {
  let given = scope.given.get(node);
  if (given === undefined) {
    given = getArgumentValues(field, node, scope.variableValues);
    scope.given.set(node, given);
  }
  return given;
}

/** A field that is asked for. */
export interface AskedField extends GivenField {
  readonly responseName: string;
  readonly nodes: readonly FieldNode[];
}

/** A class field that is being compiled. */
export interface ClassField extends AskedField {
  readonly definition: ClassDefinition;
  readonly type: GraphQLObjectType;
}

/** A field that answers the same in every request: what a definition tells, and names of types. */
export interface PlannedConstant {
  readonly kind: "constant";
  readonly responseName: string;
  readonly json: string;
}

export function constantField(responseName: string, value: unknown): PlannedConstant {
  return { kind: "constant", responseName, json: JSON.stringify(value) };
}
