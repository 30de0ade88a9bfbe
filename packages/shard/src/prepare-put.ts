import { type DataObject, type ObjectId, ShoalError } from "@shoal/model";
import { encodeRow } from "./row.js";

/** An object ready for its commit: its row lacks the stamp only. */
export interface PreparedPut {
  readonly id: ObjectId;
  readonly row: Buffer;
  /** 0 without a vector. */
  readonly dimensions: number;
}

/** Encodes the row in the caller's turn, so that a commit has little left to do. An unfit object is an error. */
export function preparePut(object: DataObject, dimensionsMax: number): PreparedPut | ShoalError {
  const { id, vector, properties, extras } = object;
  if (vector !== undefined) {
    const fault = vectorFault(vector, dimensionsMax);
    if (fault !== undefined) return new ShoalError("invalid", `vector of object '${id}' ${fault}`);
  }
  const row = encodeRow({
    propertiesJson: properties === undefined ? "{}" : JSON.stringify(properties),
    extrasJson: extras === undefined ? undefined : JSON.stringify(extras),
    vector,
  });
  return { id, row, dimensions: vector?.length ?? 0 };
}

/** What is wrong with a vector that no class can take, or undefined. */
export function vectorFault(vector: Float32Array, dimensionsMax: number): string | undefined {
  if (vector.length === 0) return "is empty";
  if (vector.length > dimensionsMax) return `has ${vector.length} dimensions, at most ${dimensionsMax} are possible`;
  for (let i = 0; i < vector.length; i++) {
    const value = vector[i] ?? 0;
    // False for NaN and both infinities alone.
    if (value - value !== 0) return `has ${value} at position ${i}`;
  }
  return undefined;
}
