import {
  FieldsOnCorrectTypeRule,
  KnownArgumentNamesRule,
  KnownTypeNamesRule,
  ScalarLeafsRule,
  specifiedRules,
  type ValidationRule,
  ValuesOfCorrectTypeRule,
  VariablesInAllowedPositionRule,
} from "graphql";
import { ArgumentValuesRule } from "./argument-values.js";
import { KnownArgumentsRule } from "./known-arguments.js";
import { KnownFieldsRule } from "./known-fields.js";
import { KnownTypesRule } from "./known-types.js";
import { SubSelectionsRule } from "./sub-selections.js";
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
