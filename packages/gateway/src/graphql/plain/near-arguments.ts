import type { NearObject, NearVector } from "@shoal/model";
import { queryVector } from "../query-vector.js";

/** Coerced arguments of Get and Explore; `null` and absent mean the same. */
export interface NearArguments {
  readonly nearVector?: { readonly vector: readonly unknown[]; readonly certainty?: number | null } | null;
  readonly nearObject?: {
    readonly id?: string | null;
    readonly beacon?: string | null;
    readonly certainty?: number | null;
  } | null;
}

/** Fails with `invalid` on numbers beyond float32. */
export function nearVectorOf({ nearVector }: NearArguments): NearVector | undefined {
  if (!nearVector) return undefined;
  return { vector: queryVector(nearVector.vector), certainty: nearVector.certainty ?? undefined };
}

export function nearObjectOf({ nearObject }: NearArguments): NearObject | undefined {
  if (!nearObject) return undefined;
  return {
    id: nearObject.id ?? undefined,
    beacon: nearObject.beacon ?? undefined,
    certainty: nearObject.certainty ?? undefined,
  };
}
