import type { FilterValue, ObjectId, ShardFilter } from "@shoal/model";

/** An object as a plain loop looks at it. */
export interface FilteredObject {
  readonly id: ObjectId;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly creationTimeUnix: number;
  readonly lastUpdateTimeUnix: number;
}

type Comparison = Exclude<ShardFilter, { readonly operands: unknown } | { readonly targets: unknown }>;

/** A part of what filters mean, written down without any index: numbers, whole words, references, times and nulls. */
export function satisfies(filter: ShardFilter, object: FilteredObject): boolean {
  if ("operands" in filter) {
    const answers = filter.operands.map((operand) => satisfies(operand, object));
    if (filter.operator === "Or") return answers.some(Boolean);
    return answers.every(Boolean) === (filter.operator === "And");
  }
  if (!("value" in filter)) {
    const list = object.properties[filter.property];
    if (!Array.isArray(list)) return false;
    const beacons = list as readonly { readonly beacon: string }[];
    return beacons.some(({ beacon }) => filter.targets.some((target) => beacon.endsWith(target)));
  }
  return compares(filter, object);
}

function compares({ operator, property, value }: Comparison, object: FilteredObject): boolean {
  const stored = storedValue(property, object);
  if (operator === "IsNull") return (stored === undefined) === value.values[0];
  if (stored === undefined) return false;
  if (operator === "NotEqual") return !isEqual(stored, value);
  if (operator === "Equal") return isEqual(stored, value);
  const [bound] = value.values;
  if (typeof stored !== "number" || typeof bound !== "number") return false;
  switch (operator) {
    case "GreaterThan":
      return stored > bound;
    case "GreaterThanEqual":
      return stored >= bound;
    case "LessThan":
      return stored < bound;
    case "LessThanEqual":
      return stored <= bound;
    default:
      throw new Error(`${operator} is not known to this loop`);
  }
}

function storedValue(property: string, object: FilteredObject): unknown {
  if (property === "id") return object.id;
  if (property === "_creationTimeUnix") return object.creationTimeUnix;
  if (property === "_lastUpdateTimeUnix") return object.lastUpdateTimeUnix;
  return object.properties[property];
}

function isEqual(stored: unknown, value: FilterValue): boolean {
  if (value.kind !== "text") return stored === value.values[0];
  const words = String(stored).toLowerCase().split(/\s+/);
  return value.values[0]?.split(" ").every((word) => words.includes(word)) ?? false;
}
