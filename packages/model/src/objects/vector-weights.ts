import { ShoalError } from "../errors/shoal-error.js";
import type { JsonObject } from "./json.js";
import { describeValue, escapeText, isUncheckedObject } from "./value-wording.js";

/** `vectorWeights` of an object: a map of strings. Undefined and null: none. Fails with `invalid` (reference-rest 3.5). */
export function parseVectorWeights(value: unknown): JsonObject | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isUncheckedObject(value)) {
    throw new ShoalError(
      "invalid",
      `vector weights: must be an object whose values are strings, got ${describeValue(value)}`,
    );
  }
  const weights: Record<string, string> = {};
  for (const [key, weight] of Object.entries(value)) {
    if (key === "__proto__") throw new ShoalError("invalid", "vector weights: the key '__proto__' is not allowed");
    if (typeof weight !== "string") {
      throw new ShoalError(
        "invalid",
        `vector weights: the value of '${escapeText(key.slice(0, 100))}' must be a string, got ${describeValue(weight)}`,
      );
    }
    weights[key] = weight;
  }
  return weights;
}
