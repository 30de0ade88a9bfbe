import type { RequestContext } from "@shoal/runtime";
import type { WatchService } from "./snapshot-service.js";

/** A storage node as the coordinator knows it. */
export interface NodeRecord {
  /** Its identity, from configuration and data folder; shards are placed by it. Never derived from an address. */
  readonly name: string;
  /** `host:port` of its `ShardService`, as the other processes reach it; undefined in the one process that is everything. */
  readonly address: string | undefined;
  readonly shoalVersion: string;
  readonly gitHash: string;
}

/** By what a coordinator knows a node again, whatever its address. */
export interface NodeClaim {
  /** Kept in the node's data folder, and shown to coordinators only. */
  readonly secret: string;
  /** Drawn at the start of the process. */
  readonly process: string;
  /** The operator said that the data which the name had is lost: another folder may take it, unless the holder is alive. */
  readonly replaces: boolean;
}

/** Who is at an address. */
export interface NodePresence {
  /** SHA-256 of the secret, hexadecimal. */
  readonly identity: string;
  readonly process: string;
}

/** The storage nodes that have registered at least once and were not removed. */
export interface NodeDirectory {
  /** Grows with every change. */
  readonly version: number;
  /** So many must have registered once before classes can be made (`CLUSTER_EXPECTED_STORAGE_NODES`). */
  readonly expectedStorageNodes: number;
  /** By name, ascending. */
  readonly nodes: readonly NodeRecord[];
}

/** The coordinator's list of storage nodes. All methods fail with `unavailable` when it cannot be reached. */
export interface NodeService extends WatchService<NodeDirectory> {
  /**
   * Enters the node, or its new address and version; durable when it resolves. Fails with `invalid` on a name that is no
   * node name, with `forbidden` when the caller proves to be somebody else, with `conflict` when the name is that of
   * another data folder, or of another process that is alive. A node without a claim is of a version that has none.
   */
  register(node: NodeRecord, context: RequestContext, claim?: NodeClaim): Promise<void>;
  /**
   * The node takes nothing more into these classes, which are being dropped, now and after a restart of it; durable when
   * it resolves. Classes that are not being dropped, or not by this node, are passed over.
   */
  confirmDropped(nodeName: string, classIds: readonly string[], context: RequestContext): Promise<void>;
  /**
   * Takes the node out for good and returns what stood there; durable when it resolves. One that still runs enters itself
   * again. Fails with `notFound` when there is none of that name, with `conflict` while shards are placed on it or as many
   * nodes are expected.
   */
  remove(name: string, context: RequestContext): Promise<NodeRecord>;
}

/** Whether as many nodes have registered as are expected; before that nothing is placed. */
export function isComplete({ expectedStorageNodes, nodes }: NodeDirectory): boolean {
  return nodes.length >= expectedStorageNodes;
}

/** Shards of a class whose definition does not say how many. What is still missing will have registered by then. */
export function storageNodeCount({ expectedStorageNodes, nodes }: NodeDirectory): number {
  return Math.max(expectedStorageNodes, nodes.length);
}
