import { type DataObject, type ObjectId, ShoalError } from "@shoal/model";
import { ByteTurns } from "./byte-turns.js";
import { encodeRow } from "./row.js";
import type { ShardLimits } from "./shard-limits.js";

/** An object ready for its commit: its row lacks the stamp only. */
export interface PreparedPut {
  readonly id: ObjectId;
  readonly row: Buffer;
  /** 0 without a vector. */
  readonly dimensions: number;
}

type Puts = readonly (PreparedPut | ShoalError)[];

/** All of them, in several turns when they are large: then, and only then, a promise. */
export function preparePuts(objects: readonly DataObject[], limits: PutLimits): Puts | Promise<Puts> {
  const puts: (PreparedPut | ShoalError)[] = [];
  const turns = new ByteTurns();
  const prepareTurn = (): boolean => {
    for (let at = puts.length; at < objects.length && !turns.isOver; at++) {
      const object = objects[at];
      if (object === undefined) break;
      const put = preparePut(object, limits);
      puts.push(put);
      turns.count(put instanceof ShoalError ? limits.objectBytesMax : put.row.length);
    }
    return puts.length === objects.length;
  };
  const prepareRest = async (): Promise<Puts> => {
    do await turns.next();
    while (!prepareTurn());
    return puts;
  };
  return prepareTurn() ? puts : prepareRest();
}

type PutLimits = Pick<ShardLimits, "dimensionsMax" | "objectBytesMax">;

/** Encodes the row in the caller's turn, so that a commit has little left to do. An unfit object is an error. */
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
