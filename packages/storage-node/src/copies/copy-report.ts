import type { ShoalError } from "@shoal/model";
import type { CopyName } from "@shoal/replication";
import type { CopyReport, ShardAddress } from "@shoal/rpc";
import type { Shard } from "@shoal/shard";
import type { ShardReplica } from "./shard-replica.js";

export interface ReportedShard {
  readonly address: ShardAddress;
  readonly ready: Pick<Shard, "condition"> | undefined;
  readonly replica: Pick<ShardReplica, "name" | "isInSync" | "isPrimary" | "end"> | undefined;
  readonly failure: { readonly error: ShoalError } | undefined;
  readonly failedBefore: ShoalError | undefined;
}

/**
 * What a node says of its copy of a shard; undefined: the shard has no copies, or its copy is being opened, or cannot be opened for
 * another reason than damage. `name`: that of the copy, as its configuration has it.
 */
export function copyReport(
  { address, ready, replica, failure, failedBefore }: ReportedShard,
  name: CopyName | undefined,
): CopyReport | undefined {
  if (replica?.name !== undefined && ready !== undefined) {
    const { isInSync, isPrimary, end } = replica;
    const { status, reason } = ready.condition();
    // What it has lost is the reason of one that is ready.
    const isDamaged = status === "failed" || (status === "ready" && reason !== undefined);
    const state = isDamaged ? "DAMAGED" : isInSync ? "IN_SYNC" : "CATCHING_UP";
    return { address, name: replica.name, state, isPrimary, end };
  }
  const error = failure?.error ?? failedBefore;
  if (name === undefined || error?.code !== "dataLoss") return undefined;
  return { address, name, state: "DAMAGED", isPrimary: false, end: 0 };
}
