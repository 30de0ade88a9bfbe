import { decodeProperties, type FilterValue, type Json, type ShardFilter, targetsOfReferences } from "@shoal/model";
import { type MemoryObject, toStored } from "./memory-object.js";

/** Whether an object satisfies a filter: whole values are compared, which is all that tests of the asking side need. */
export function matches(filter: ShardFilter, object: MemoryObject): boolean {
  if ("operands" in filter) {
    const each = (operand: ShardFilter) => matches(operand, object);
    if (filter.operator === "Or") return filter.operands.some(each);
    return filter.operands.every(each) === (filter.operator === "And");
  }
  if (filter.operator === "RefersTo") {
    const stored = decodeProperties(toStored(object))[filter.property];
    const targets = new Set<string>(filter.targets);
    return targetsOfReferences(stored).some((id) => targets.has(id));
  }
  return compare(storedValue(object, filter.property), filter.operator, filter.value);
}

/** How tests compare one value, in filters of shards and in oracles. */
export function compare(value: Json | undefined, operator: string, { values }: FilterValue): boolean {
  const [wanted] = values;
  if (value === undefined || value === null || wanted === undefined) return false;
  switch (operator) {
    case "Equal":
      return value === wanted;
    case "NotEqual":
      return value !== wanted;
    case "LessThan":
      return value < wanted;
    case "GreaterThanEqual":
      return value >= wanted;
    case "ContainsAny":
      return (values as readonly unknown[]).includes(value);
    default:
      throw new Error(`no test needs ${operator}`);
  }
}

function storedValue(object: MemoryObject, property: string): Json | undefined {
  return property === "id" ? object.id : object.properties?.[property];
}
