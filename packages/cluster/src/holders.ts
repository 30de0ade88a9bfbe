import type { ShoalError } from "@shoal/model";
import type { ClassRecord } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";

/** Which classes have an id. A class whose shard could not be asked is not among them. */
export interface Holders {
  /** The one that calls which name no class act on comes first: by name, where roles are on the oldest object. */
  readonly holding: readonly ClassRecord[];
  /** Why a shard whose response matters could not be asked: the first reason. */
  readonly failure: ShoalError | undefined;
  /** Why nobody knows which one comes first, although that matters. */
  readonly orderFault?: ShoalError | undefined;
}

/**
 * The class that a call acts on which names none: the first one. Fails with the failure when there is none, and where nobody knows which one it is;
 * where roles are on, so also while a shard that may have the oldest object cannot be asked.
 */
export function firstHolder(
  { holding, failure, orderFault }: Holders,
  { rights }: { readonly rights?: RequestContext["rights"] },
): ClassRecord | undefined {
  if (orderFault !== undefined) throw orderFault;
  if (failure !== undefined && (holding[0] === undefined || rights !== undefined)) throw failure;
  return holding[0];
}
