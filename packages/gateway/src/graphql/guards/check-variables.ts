import { ShoalError } from "@shoal/model";
import type { GraphQlLimits } from "../limits.js";

/**
 * Refuses variables with too many values (numbers of vectors, mostly) before graphql-js coerces them one by one. The
 * bound is that of numbers in the query text. Fails with `tooLarge`. Recurses as deep as the body.
 */
export function checkVariables(variables: unknown, limits: GraphQlLimits): void {
  const max = limits.graphqlNumbersMax;
  if (countValues(variables, max) <= max) return;
  throw new ShoalError("tooLarge", `the variables have more than ${max} values`);
}

/** Values that are no objects and no lists, or a number beyond `max` when there are more. */
function countValues(value: unknown, max: number): number {
  if (typeof value !== "object" || value === null) return 1;
  const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  let count = 0;
  for (const item of items) {
    count += countValues(item, max);
    if (count > max) break;
  }
  return count;
}
