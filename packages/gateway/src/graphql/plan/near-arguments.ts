import { describeValue, type NearObject, type NearVector, ShoalError } from "@shoal/model";

/** Coerced arguments of Get and Explore; `null` and absent mean the same. */
export interface NearArguments {
  readonly nearVector?: {
    readonly vector: readonly unknown[] | Float32Array;
    readonly certainty?: number | null;
  } | null;
  readonly nearObject?: {
    readonly id?: string | null;
    readonly beacon?: string | null;
    readonly certainty?: number | null;
  } | null;
}

/** Fails with `invalid` on what is no float32 number, naming its place. */
export function nearVectorOf({ nearVector }: NearArguments): NearVector | undefined {
  if (!nearVector) return undefined;
  const certainty = nearVector.certainty ?? undefined;
  // Read as float32 by who lifted it.
  if (nearVector.vector instanceof Float32Array) return { vector: nearVector.vector, certainty };
  const vector = new Float32Array(nearVector.vector.length);
  for (const [i, value] of nearVector.vector.entries()) {
    if (typeof value !== "number") {
      throw new ShoalError("invalid", `nearVector.vector[${i}] must be a number, got ${describeValue(value)}`);
    }
    vector[i] = value;
    if (!Number.isFinite(vector[i])) {
      throw new ShoalError("invalid", `nearVector.vector[${i}] is beyond the range of float32: ${value}`);
    }
  }
  return { vector, certainty };
}

export function nearObjectOf({ nearObject }: NearArguments): NearObject | undefined {
  if (!nearObject) return undefined;
  return {
    id: nearObject.id ?? undefined,
    beacon: nearObject.beacon ?? undefined,
    certainty: nearObject.certainty ?? undefined,
  };
}
