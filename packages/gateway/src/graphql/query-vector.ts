import { ShoalError } from "@shoal/model";

/**
 * A query vector of GraphQL values. Fails with `invalid` on what is no float32 number, naming its place; `prefix` begins
 * the message.
 */
export function queryVector(values: readonly unknown[], prefix: string): Float32Array {
  const vector = new Float32Array(values.length);
  for (const [i, value] of values.entries()) {
    if (typeof value !== "number") {
      throw new ShoalError("invalid", `${prefix}nearVector.vector[${i}] must be a number, got ${String(value)}`);
    }
    vector[i] = value;
    if (!Number.isFinite(vector[i])) {
      throw new ShoalError("invalid", `${prefix}nearVector.vector[${i}] is beyond the range of float32: ${value}`);
    }
  }
  return vector;
}
