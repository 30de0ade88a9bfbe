import { type ReferenceSelection, type ReferenceTargetSelection, ShoalError } from "@shoal/model";
import {
  type FieldNode,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  GraphQLSkipDirective,
  type GraphQLUnionType,
  getDirectiveValues,
  getNamedType,
  isObjectType,
  isUnionType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from "graphql";
import {
  nodesByField,
  rowFieldsOf,
  type SelectedFields,
  type SelectionScope,
  selectedSubfields,
} from "./selected-fields.js";

/** Of `_additional` only the id of a target is filled, which every row has (reference-graphql 2.5). */
const NOTHING_ADDITIONAL: ReadonlySet<string> = new Set();

/**
 * The references that a selection of class fields asks for, at every depth, free of GraphQL. Several aliases of a property
 * are one selection; who answers them picks with {@link targetClasses}. Fails with `invalid` on a
 * fragment on `Beacon`.
 */
export function selectedReferences(
  scope: SelectionScope,
  type: GraphQLObjectType,
  selected: SelectedFields,
): readonly ReferenceSelection[] {
  const references: ReferenceSelection[] = [];
  for (const [property, nodes] of nodesByField(selected)) {
    const union = getNamedType(type.getFields()[property]?.type);
    if (!isUnionType(union)) continue;
    const targets = targetClasses(scope, union, nodes).map((name) => targetSelection(scope, name, nodes));
    if (targets.length > 0) references.push({ property, targets });
  }
  return references;
}

function targetSelection(
  scope: SelectionScope,
  className: string,
  nodes: readonly FieldNode[],
): ReferenceTargetSelection {
  const type = scope.schema.getType(className);
  if (!isObjectType(type)) throw new ShoalError("internal", `the target '${className}' of a reference is no class`);
  const selected = selectedSubfields(scope, type, nodes);
  return {
    className,
    fields: rowFieldsOf(nodesByField(selected).keys(), NOTHING_ADDITIONAL),
    references: selectedReferences(scope, type, selected),
  };
}

/** Classes that have a fragment in the selection of a reference property, in the order of the fragments. */
export function targetClasses(
  scope: SelectionScope,
  union: GraphQLUnionType,
  nodes: readonly FieldNode[],
): readonly string[] {
  const names = new Set<string>();
  const walk = (set: SelectionSetNode | undefined): void => {
    for (const selection of set?.selections ?? []) {
      if (selection.kind === Kind.FIELD || !isIncluded(scope, selection)) continue;
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? scope.fragments[selection.name.value] : selection;
      const name = fragment?.typeCondition?.name.value ?? union.name;
      if (name === union.name) walk(fragment?.selectionSet);
      else names.add(name);
    }
  };
  for (const node of nodes) walk(node.selectionSet);
  if (names.has("Beacon")) {
    throw new ShoalError("invalid", "retrieving cross-refs by beacon is not supported yet - coming soon!");
  }
  return [...names];
}

function isIncluded({ variableValues }: SelectionScope, selection: SelectionNode): boolean {
  if (getDirectiveValues(GraphQLSkipDirective, selection, variableValues)?.if === true) return false;
  return getDirectiveValues(GraphQLIncludeDirective, selection, variableValues)?.if !== false;
}
