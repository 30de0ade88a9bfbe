import { CREATION_TIME_PROPERTY, ID_PROPERTY, LAST_UPDATE_TIME_PROPERTY, type ShardFilter } from "@shoal/model";
import { tokensOf } from "../analysis/tokens.js";
import { entrySize } from "../cached/term-entry.js";
import type { PropertyIndex } from "../stored/property-index.js";
import type { FilterContext } from "./filter-context.js";

/** What one step of the store is worth, in steps of memory. */
const COLD = 20_000;
const CHEAP = 10;

/** About how many steps a filter takes: what is cheap goes first, and leaves little to do for the others. */
export function estimateCost(context: FilterContext, filter: ShardFilter): number {
  if ("operands" in filter) {
    const costs = filter.operands.map((operand) => estimateCost(context, operand));
    if (filter.operator === "And") return Math.min(...costs);
    return costs.reduce((sum, cost) => sum + cost, filter.operator === "Not" ? allCost(context) : 0);
  }
  const { property, operator } = filter;
  if (property === ID_PROPERTY)
    return operator === "Equal" || operator === "ContainsAny" ? CHEAP : allCost(context) * 100;
  const index = context.properties.get(property);
  if (index === undefined) return 0;
  if (operator === "RefersTo") return filter.targets.length * CHEAP;
  const complement = operator === "NotEqual" ? allCost(context) : 0;
  if (property === CREATION_TIME_PROPERTY || property === LAST_UPDATE_TIME_PROPERTY) return numbersCost(context);
  switch (index.property.kind) {
    case "text":
      return complement + textCost(context, index, filter);
    case "number":
    case "date":
    case "reference":
      return complement + numbersCost(context);
    case "geo":
      return context.directory.documentLimit * 4;
    default:
      return complement + allCost(context);
  }
}

function allCost(context: FilterContext): number {
  return context.directory.documentLimit / 32;
}

function numbersCost(context: FilterContext): number {
  return context.directory.documentLimit / 8;
}

function textCost(context: FilterContext, index: PropertyIndex, filter: ShardFilter): number {
  if ("operands" in filter || filter.operator === "RefersTo") return 0;
  const { operator, value } = filter;
  const cached = index.tokens?.slot.resident;
  if (cached === undefined) return COLD;
  if (operator === "IsNull") return allCost(context);
  if (operator !== "Equal" && operator !== "NotEqual") return cached.size * 10;
  if (value.kind !== "text" && value.kind !== "string") return 0;
  const sizes = tokensOf(value.values[0] ?? "", value.kind).map((token) => cached.get(token));
  return Math.min(...sizes.map((entry) => (entry === undefined ? 0 : entrySize(entry))), allCost(context) * 32);
}
