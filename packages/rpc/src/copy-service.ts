import type { CopyMessage, CopyName, Heartbeat, ShardConfiguration } from "@shoal/replication";
import type { RequestContext, ShortMemory } from "@shoal/runtime";
import type { Position, SnapshotService } from "./snapshot-service.js";

/** Names a shard among all of a cluster: `<class id>/<shard name>`. */
export type ShardKey = string;

/**
 * Who holds the shards that have copies, at one version. A shard that is not in it has the configuration that its class was made with
 * (`initialConfiguration` of its sharding state), or has no copies. Never changed: a later version is another snapshot.
 */
export interface CopiesSnapshot extends Position {
  /** A configuration that a later snapshot has as well is the same object there. */
  readonly configurations: ReadonlyMap<ShardKey, ShardConfiguration>;
}

/** One shard's next configuration: its version follows that of the one that it was decided on. */
export interface CopyProposal {
  readonly shard: ShardKey;
  readonly next: ShardConfiguration;
}

export interface CopyDecision {
  readonly shard: ShardKey;
  readonly isAccepted: boolean;
  /** The one that counts now; undefined: the shard's class is not there any more. */
  readonly current: ShardConfiguration | undefined;
}

/** The configurations of shards with copies. */
export interface CopyService extends SnapshotService<CopiesSnapshot> {
  /**
   * Compare-and-set of each one by itself; proposals that come together share a commit. Decisions in the order of the proposals.
   * `node`: who proposes. What is proposed again after a lost response is accepted while it is what counts. Watchers may hear of
   * what was accepted after the response. Fails with `unavailable` when nobody knows what became of them.
   */
  propose(node: string, proposals: readonly CopyProposal[], context: RequestContext): Promise<readonly CopyDecision[]>;
  /**
   * Brings back what processes of a cluster still know: after its schema was brought back into an empty store (`ServedSchema.restore`), or
   * its store from a backup. Counts for shards that there are, and whose configuration is older, which one that is lost always is; any other stays as it is.
   */
  restore(configurations: readonly KnownConfiguration[], context: RequestContext): Promise<void>;
}

export type KnownConfiguration = readonly [shard: ShardKey, configuration: ShardConfiguration];

/** What one node sends another for the shards of which both have copies. It may be lost, late, doubled and out of order. */
export type NodeMessage =
  /** `memory`: that of the sender, while it is short. */
  | { readonly type: "heartbeat"; readonly heartbeat: Heartbeat; readonly memory?: ShortMemory | undefined }
  | {
      readonly type: "copy";
      readonly shard: ShardKey;
      readonly from: CopyName;
      readonly to: CopyName;
      readonly message: CopyMessage;
    }
  /** A piece of the vector index of a primary, for a copy that gets all rows after it. */
  | {
      readonly type: "graph";
      readonly shard: ShardKey;
      readonly from: CopyName;
      readonly to: CopyName;
      readonly session: string;
      readonly number: number;
      readonly piece: Uint8Array;
      readonly isLast: boolean;
    }
  | {
      readonly type: "graphTaken";
      readonly shard: ShardKey;
      readonly from: CopyName;
      readonly to: CopyName;
      readonly session: string;
      readonly number: number;
      /** False: the rows are linked instead. */
      readonly isWanted: boolean;
    };
