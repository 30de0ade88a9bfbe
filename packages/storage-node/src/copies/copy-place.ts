import { ShoalError } from "@shoal/model";
import type { CopyOptions } from "@shoal/shard";
import type { OpenedShard } from "../opened-shard.js";

export const WAY_OUT_OF_COPY =
  "Where other copies of the shard are in sync, stop the node, remove the folder of the shard and start it: the copy is made anew";

/** Where the store of a copy is, or will be. */
export interface CopyPlace {
  /** Whether the shard was once complete on this node. */
  readonly isMade: boolean;
  /** Whether its store is there. */
  hasStore(): Promise<boolean>;
  /** Removes what is there of it. */
  clear(): Promise<void>;
  /** To be awaited when it is complete on disk, before it takes part. */
  keepMade(): Promise<void>;
  /** What was found damaged in it; that goes with the folder of the shard. */
  damage(): Promise<string | undefined>;
  keepDamage(reason: string): Promise<void>;
  open(isMade: boolean, copy: CopyOptions): Promise<OpenedShard>;
}

/**
 * Opens a copy with `open`. One that was found damaged, or that is found so now, fails with `dataLoss` when another copy has everything:
 * it has nothing then that the others lack. Else it is opened, and answers what it can.
 */
export async function openWhole(
  place: CopyPlace,
  hasAnother: () => Promise<boolean>,
  open: () => Promise<OpenedShard>,
): Promise<OpenedShard> {
  const known = await place.damage();
  if (known !== undefined && (await hasAnother())) throw damaged(known);
  const opened = await open();
  const found = damageOf(opened);
  if (found === undefined || !(await hasAnother())) return opened;
  await opened.shard[Symbol.asyncDispose]();
  await opened.store[Symbol.asyncDispose]();
  // The next opening need not read all files to find it again.
  await place.keepDamage(found).catch(() => undefined);
  throw damaged(found);
}

function damageOf({ shard, store }: OpenedShard): string | undefined {
  const { status, reason } = shard.condition();
  // What it has lost is the reason of one that is ready.
  return store.damage ?? (status === "ready" ? reason : undefined);
}

function damaged(reason: string): ShoalError {
  return new ShoalError("dataLoss", `${reason}. ${WAY_OUT_OF_COPY}`);
}
