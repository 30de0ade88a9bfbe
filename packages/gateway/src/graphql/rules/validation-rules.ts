import {
  type ASTVisitor,
  FieldsOnCorrectTypeRule,
  GraphQLError,
  getNamedType,
  isLeafType,
  KnownArgumentNamesRule,
  KnownTypeNamesRule,
  ScalarLeafsRule,
  specifiedRules,
  type ValidationContext,
  type ValidationRule,
  ValuesOfCorrectTypeRule,
  VariablesInAllowedPositionRule,
} from "graphql";
import { ArgumentValuesRule } from "./argument-values.js";
import { KnownArgumentsRule, KnownFieldsRule, KnownTypesRule } from "./known-names.js";
import { VariablePositionsRule } from "./variable-positions.js";

const REWORDED = new Map<ValidationRule, ValidationRule>([
  [FieldsOnCorrectTypeRule, KnownFieldsRule],
  [KnownArgumentNamesRule, KnownArgumentsRule],
  [KnownTypeNamesRule, KnownTypesRule],
  [ScalarLeafsRule, SubSelectionsRule],
  [ValuesOfCorrectTypeRule, ArgumentValuesRule],
  [VariablesInAllowedPositionRule, VariablePositionsRule],
]);

/** The rules of GraphQL, those with texts that clients know from the reference replaced by ours. */
export const VALIDATION_RULES: readonly ValidationRule[] = specifiedRules.map((rule) => REWORDED.get(rule) ?? rule);

/** Validation stops after so many errors and says so. */
export const VALIDATION_ERRORS_MAX = 50;

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
