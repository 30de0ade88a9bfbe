import { type FieldNode, isInputObjectType, valueFromAST } from "graphql";
import { aggregateWherePrefix, getWherePrefix, whereInputName } from "../schema/where-types.js";
import type { SelectionScope } from "../selected-fields.js";
import { readAggregateWhere, readGetWhere, type WhereReading } from "../where/read-where.js";
import type { LiteralBindings } from "./bind-literals.js";
import { WherePlan } from "./where-plan.js";

/**
 * The plan of a class field's `where` argument; undefined when there is none, null when it cannot be planned. Fails as
 * the field's resolver would: what is refused in one request of a template is left to graphql-js in all.
 */
export function compileWhere(
  root: "Get" | "Aggregate",
  field: FieldNode,
  scope: SelectionScope,
  bindings: LiteralBindings,
  reading: WhereReading,
): WherePlan | undefined | null {
  const value = bindings.argument(field.arguments, "where");
  if (value.from === "nowhere") return undefined;
  const className = field.name.value;
  const prefix = root === "Get" ? getWherePrefix(className) : aggregateWherePrefix(className);
  const type = scope.schema.getType(whereInputName(prefix));
  const node = field.arguments?.find(({ name }) => name.value === "where")?.value;
  if (!isInputObjectType(type)) return null;
  const read = root === "Get" ? readGetWhere : readAggregateWhere;
  const filter = read(valueFromAST(node, type, scope.variableValues), className, reading);
  return (filter && WherePlan.of(value, filter, reading.limits)) ?? null;
}
