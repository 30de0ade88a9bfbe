import { describeValue, ShoalError } from "@shoal/model";

/**
 * A query vector of GraphQL values. Fails with `invalid` on what is no float32 number, naming its place.
 */
export function queryVector(values: readonly unknown[]): Float32Array {
  const vector = new Float32Array(values.length);
  for (const [i, value] of values.entries()) {
    if (typeof value !== "number") {
      throw new ShoalError("invalid", `nearVector.vector[${i}] must be a number, got ${describeValue(value)}`);
    }
    vector[i] = value;
    if (!Number.isFinite(vector[i])) {
      throw new ShoalError("invalid", `nearVector.vector[${i}] is beyond the range of float32: ${value}`);
    }
  }
  return vector;
}
