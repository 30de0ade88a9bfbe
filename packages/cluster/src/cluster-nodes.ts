import type { NodeRecord, ShardService } from "@shoal/rpc";

/** The nodes of the cluster by name. */
export interface NodePool {
  node(name: string): ShardService | undefined;
  /** Whether it is lost, and nothing says that it comes back soon. */
  isLost(name: string): boolean;
}

/** A storage node that has registered. */
export interface ClusterNode {
  readonly record: NodeRecord;
  readonly service: ShardService;
}

/** All storage nodes that have registered, by name, ascending. */
export interface ClusterNodes {
  readonly nodes: readonly ClusterNode[];
}
