import { type ASTVisitor, GraphQLError, getNamedType, isLeafType, type ValidationContext } from "graphql";

/** Objects have a selection of subfields, scalars have none; worded by the reference (reference-graphql 1.4). */
export function SubSelectionsRule(context: ValidationContext): ASTVisitor {
  return {
    Field(node) {
      const type = context.getType();
      if (!type) return;
      const isLeaf = isLeafType(getNamedType(type));
      if (isLeaf === (node.selectionSet === undefined)) return;
      const verb = isLeaf ? "must not have" : "must have";
      context.reportError(
        new GraphQLError(`Field "${node.name.value}" of type "${String(type)}" ${verb} a sub selection.`, {
          nodes: node.selectionSet ?? node,
        }),
      );
    },
  };
}
