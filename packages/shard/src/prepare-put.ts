import { type DataObject, type ObjectId, ShoalError } from "@shoal/model";
import { byteYielder } from "./byte-yielder.js";
import { encodeRow } from "./row.js";
import type { ShardLimits } from "./shard-limits.js";

/** An object ready for its commit: its row lacks the stamp only. */
export interface PreparedPut {
  readonly id: ObjectId;
  readonly row: Buffer;
  /** 0 without a vector. */
  readonly dimensions: number;
}

export type Prepared = readonly (PreparedPut | ShoalError)[];

/** Those from `start` on that fit into one step, at least one. */
export function preparePuts(objects: readonly DataObject[], start: number, limits: PutLimits): Prepared {
  const puts: (PreparedPut | ShoalError)[] = [];
  const yielder = byteYielder();
  for (let at = start; at < objects.length && !yielder.isDue; at++) {
    const object = objects[at];
    if (object === undefined) break;
    const put = preparePut(object, limits);
    puts.push(put);
    yielder.count(put instanceof ShoalError ? limits.objectBytesMax : put.row.length);
  }
  return puts;
}

/** Bytes of the rows. */
export function bytesOf(puts: Prepared): number {
  return puts.reduce((sum, put) => sum + (put instanceof ShoalError ? 0 : put.row.length), 0);
}

export type PutLimits = Pick<ShardLimits, "commitBytesMax" | "dimensionsMax" | "objectBytesMax">;

/** Encodes the row while the caller runs, so that a commit has little left to do. An unfit object is an error. */
function preparePut(object: DataObject, { dimensionsMax, objectBytesMax }: PutLimits): PreparedPut | ShoalError {
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
