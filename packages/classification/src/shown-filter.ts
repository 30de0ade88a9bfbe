import { isUncheckedObject, type Json, type JsonObject } from "@shoal/model";

/** A clause that was parsed, as records show it: `operands` and `path` are null where there are none (reference-rest 10.1). */
export function shownFilter(clause: unknown): JsonObject {
  const given = isUncheckedObject(clause) ? (clause as JsonObject) : {};
  const { operands, operator, path, ...values } = given;
  const shown: JsonObject = {
    operands: Array.isArray(operands) ? (operands as readonly Json[]).map(shownFilter) : null,
    operator: operator ?? null,
    path: path ?? null,
  };
  const kept = Object.entries(values).filter(([name, value]) => name.startsWith("value") && value !== null);
  return { ...shown, ...Object.fromEntries(kept) };
}
