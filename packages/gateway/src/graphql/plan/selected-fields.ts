import type { RowFields } from "@shoal/model";
import type { FieldNode, FragmentDefinitionNode, GraphQLObjectType, GraphQLSchema, SelectionSetNode } from "graphql";
// Exported by graphql-js as a file only. It holds the one merging rule of fields, fragments, @skip and @include.
import { collectFields, collectSubfields } from "graphql/execution/collectFields.js";

/** Fields by response name, in the order of the response; several nodes of one name are merged. */
export type SelectedFields = ReadonlyMap<string, readonly FieldNode[]>;

/** What decides, beside the selection itself, which fields are selected. */
export interface SelectionScope {
  readonly schema: GraphQLSchema;
  readonly fragments: { [name: string]: FragmentDefinitionNode };
  /** Coerced values. */
  readonly variableValues: { [name: string]: unknown };
}

export function selectedFields(
  scope: SelectionScope,
  type: GraphQLObjectType,
  selectionSet: SelectionSetNode,
): SelectedFields {
  return collectFields(scope.schema, scope.fragments, scope.variableValues, type, selectionSet);
}

export function selectedSubfields(
  scope: SelectionScope,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): SelectedFields {
  return collectSubfields(scope.schema, scope.fragments, scope.variableValues, type, nodes);
}

/** Nodes by the name of their field, under whatever aliases it is selected. */
export function nodesByField(selected: SelectedFields): ReadonlyMap<string, readonly FieldNode[]> {
  const byField = new Map<string, FieldNode[]>();
  for (const nodes of selected.values()) {
    const name = nodes[0]?.name.value ?? "";
    const known = byField.get(name);
    if (known === undefined) byField.set(name, [...nodes]);
    else known.push(...nodes);
  }
  return byField;
}

/** What of a row is needed to answer `classFields`, with `additional` as the names asked for in `_additional`. */
export function rowFieldsOf(
  classFields: Iterable<string>,
  additional: ReadonlyMap<string, unknown> | ReadonlySet<string>,
): RowFields {
  let properties = false;
  for (const name of classFields) if (name !== "_additional" && name !== "__typename") properties = true;
  return { properties, vector: additional.has("vector"), extras: additional.has("classification") };
}
