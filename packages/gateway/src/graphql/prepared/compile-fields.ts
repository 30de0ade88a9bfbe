import { type FieldNode, type GraphQLObjectType, getNamedType, isObjectType } from "graphql";
import type { SelectedFields } from "../selected-fields.js";

/** The results for all fields; undefined when there is none for one of them, or when there are no fields. */
export function eachField<T>(
  selected: SelectedFields,
  compile: (responseName: string, field: FieldNode, nodes: readonly FieldNode[]) => T | undefined,
): readonly T[] | undefined {
  const results: T[] = [];
  for (const [responseName, nodes] of selected) {
    const result = nodes[0] && compile(responseName, nodes[0], nodes);
    if (result === undefined) return undefined;
    results.push(result);
  }
  // An empty selection (all of it skipped) is left to graphql-js.
  return results.length === 0 ? undefined : results;
}

/** The object type of a field, in a list or not. */
export function objectTypeOf(parent: GraphQLObjectType, field: string): GraphQLObjectType | undefined {
  const type = getNamedType(parent.getFields()[field]?.type);
  return isObjectType(type) ? type : undefined;
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
