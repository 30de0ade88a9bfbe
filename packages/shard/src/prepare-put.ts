import { type DataObject, type ObjectId, ShoalError } from "@shoal/model";
import { encodeRow } from "./row.js";
import type { ShardLimits } from "./shard-limits.js";

/** An object ready for its commit: its row lacks the stamp only. */
export interface PreparedPut {
  readonly id: ObjectId;
  readonly row: Buffer;
  /** 0 without a vector. */
  readonly dimensions: number;
}

/** Encodes the row in the caller's turn, so that a commit has little left to do. An unfit object is an error. */
export function preparePut(
  object: DataObject,
  { dimensionsMax, objectBytesMax }: Pick<ShardLimits, "dimensionsMax" | "objectBytesMax">,
): PreparedPut | ShoalError {
  const { id, vector, properties, extras } = object;
  if (vector !== undefined) {
    const fault = vectorFault(vector, dimensionsMax);
    if (fault !== undefined) return new ShoalError("invalid", `vector of object '${id}' ${fault}`);
  }
  const propertiesJson = properties === undefined ? "{}" : JSON.stringify(properties);
  const extrasJson = extras === undefined ? undefined : JSON.stringify(extras);
  try {
    const bound = { id, bytesMax: objectBytesMax, bytesBefore: 0 };
    return { id, row: encodeRow({ propertiesJson, extrasJson, vector }, bound), dimensions: vector?.length ?? 0 };
  } catch (thrown) {
    return ShoalError.from(thrown);
  }
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
