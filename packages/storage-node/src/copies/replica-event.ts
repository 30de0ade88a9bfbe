import type { ShoalError } from "@shoal/model";
import type { CopyName, ShardConfiguration } from "@shoal/replication";
import type { ShardAddress } from "@shoal/rpc";
import type { FullCopyEvent } from "./full-copy.js";
import type { HeldEvent } from "./node-memory.js";

/** What becomes of a copy. */
export type ReplicaEvent =
  /** Another configuration counts: who is primary, who is in sync. */
  | {
      readonly type: "configured";
      readonly shard: ShardAddress;
      readonly before: ShardConfiguration | undefined;
      readonly after: ShardConfiguration;
    }
  /** A copy that catches up rolls back changes that this primary does not have. */
  | { readonly type: "takesBack"; readonly shard: ShardAddress; readonly copy: CopyName; readonly changes: number }
  /** The copy is not the shard's any more: its store goes. */
  | { readonly type: "discarded"; readonly shard: ShardAddress }
  /** The store takes no more writes: it is to be opened again. */
  | { readonly type: "copyFailed"; readonly shard: ShardAddress; readonly error: ShoalError }
  /** What it holds is damaged, and another copy has it: this one answers no more. */
  | { readonly type: "copyDamaged"; readonly shard: ShardAddress; readonly error: ShoalError }
  /** Rows that another copy needs could not be read; the graph could not be, and the rows come without it. */
  | { readonly type: "catchUpFailed" | "graphFailed"; readonly shard: ShardAddress; readonly error: ShoalError }
  | HeldEvent
  | (FullCopyEvent & { readonly shard: ShardAddress });
