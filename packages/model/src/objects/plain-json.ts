import { ShoalError } from "../errors/shoal-error.js";
import type { Json, JsonObject } from "./json.js";
import { JsonNumber } from "./json-number.js";
import { describeValue, isUncheckedObject } from "./value-wording.js";

/** Deeper values are refused: everything that walks them may recurse. */
const JSON_DEPTH_MAX = 100;

/**
 * A parsed JSON value as plain, storable JSON: numbers become float64. Fails with `invalid`, naming `where`, on a key
 * `__proto__`, on numbers beyond float64 and on values nested deeper than 100 levels.
 */
export function plainJson(value: unknown, where: string): Json {
  return plain(value, where, 0);
}

/** The same for a value that must be an object. */
export function plainJsonObject(value: unknown, where: string): JsonObject {
  if (!isUncheckedObject(value))
    throw new ShoalError("invalid", `${where} must be an object, got ${describeValue(value)}`);
  return plain(value, where, 0) as JsonObject;
}

function plain(value: unknown, where: string, depth: number): Json {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number" || value instanceof JsonNumber) return plainNumber(value, where);
  if (depth >= JSON_DEPTH_MAX)
    throw new ShoalError("invalid", `${where} is nested deeper than ${JSON_DEPTH_MAX} levels`);
  if (Array.isArray(value)) return value.map((item) => plain(item, where, depth + 1));
  if (!isUncheckedObject(value))
    throw new ShoalError("invalid", `${where} holds a value that is no JSON: ${typeof value}`);
  const target: Record<string, Json> = {};
  for (const key of Object.keys(value)) {
    if (key === "__proto__") throw new ShoalError("invalid", `the key '__proto__' is not allowed in ${where}`);
    target[key] = plain(value[key], where, depth + 1);
  }
  return target;
}

function plainNumber(value: number | JsonNumber, where: string): number {
  const number = typeof value === "number" ? value : value.toNumber();
  if (Number.isFinite(number)) return number + 0;
  throw new ShoalError("invalid", `${where} holds the number '${value}', which is beyond the range of a float64`);
}
