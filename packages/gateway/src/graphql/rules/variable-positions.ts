import {
  type ASTVisitor,
  isListType,
  Kind,
  type OperationDefinitionNode,
  type TypeNode,
  type ValidationContext,
  VariablesInAllowedPositionRule,
} from "graphql";
import { LENIENT_LISTS } from "../schema/where-types.js";

/**
 * The rule of GraphQL that a variable fits the place where it is used; but a variable of one value fits a list of a filter
 * as well, which its literal does, too.
 */
export function VariablePositionsRule(context: ValidationContext): ASTVisitor {
  const lenient: ValidationContext = Object.create(context, {
    getRecursiveVariableUsages: {
      value: (operation: OperationDefinitionNode) => {
        const single = new Set<string>();
        for (const { variable, type } of operation.variableDefinitions ?? []) {
          if (!isList(type)) single.add(variable.name.value);
        }
        return context.getRecursiveVariableUsages(operation).map((usage) => {
          const { node, type } = usage;
          const isLenient = LENIENT_LISTS.has(type) && isListType(type) && single.has(node.name.value);
          return isLenient ? { ...usage, type: type.ofType } : usage;
        });
      },
    },
  });
  return VariablesInAllowedPositionRule(lenient);
}

function isList(type: TypeNode): boolean {
  return type.kind === Kind.LIST_TYPE || (type.kind === Kind.NON_NULL_TYPE && isList(type.type));
}
