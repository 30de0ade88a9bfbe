import { ShoalError } from "../errors/shoal-error.js";
import type { JsonObject } from "./json.js";
import { isUncheckedObject, printTypedValue, typeName } from "./value-wording.js";

/** `vectorWeights` of an object: a map of strings. Undefined and null: none. Fails with `invalid` (reference-rest 3.5). */
export function parseVectorWeights(value: unknown): JsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isUncheckedObject(value)) {
    throw new ShoalError(
      "invalid",
      `vector weights: must be key/value object with strings as keys and values, got ${printTypedValue(value)}`,
    );
  }
  const weights: Record<string, string> = {};
  for (const [key, weight] of Object.entries(value)) {
    if (key === "__proto__") throw new ShoalError("invalid", "vector weights: the key '__proto__' is not allowed");
    if (typeof weight !== "string") {
      throw new ShoalError(
        "invalid",
        `vector weights: key '${key}': incorrect datatype: must be string, got ${typeName(weight)}`,
      );
    }
    weights[key] = weight;
  }
  return weights;
}
