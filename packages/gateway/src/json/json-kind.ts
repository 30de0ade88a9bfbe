import { JsonNumber, type ShoalError } from "@shoal/model";
import { malformed } from "./parse-json.js";

/** The kind of a JSON value in the words of the reference's decoder. */
export function jsonKind(value: unknown): string {
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number" || value instanceof JsonNumber) return "number";
  return Array.isArray(value) ? "array" : "object";
}

/** The error for a member of the wrong JSON type: `place` is `Object.class`, `wanted` the type it should have. */
export function wrongMember(value: unknown, place: string, wanted: string): ShoalError {
  return malformed("body", `json: cannot unmarshal ${jsonKind(value)} into Go struct field ${place} of type ${wanted}`);
}

/** As {@link wrongMember}, for a number that the type cannot hold. `value` is a number or its literal. */
export function wrongNumber(value: unknown, place: string, wanted: string): ShoalError {
  return malformed("body", `json: cannot unmarshal number ${value} into Go struct field ${place} of type ${wanted}`);
}

/** The error for a whole value of the wrong JSON type. */
export function wrongValue(value: unknown, wanted: string): ShoalError {
  return malformed("body", `json: cannot unmarshal ${jsonKind(value)} into Go value of type ${wanted}`);
}
