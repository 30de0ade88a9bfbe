import type { ObjectId } from "@shoal/model";
import type { ClassRecord, ShardAddress, ShardService } from "@shoal/rpc";

/** Where data lives: which shard an object belongs to, and who serves a shard. */
export interface ShardRouter {
  /** The shard that owns `id`, by the class's ring. */
  shardOf(record: ClassRecord, id: ObjectId): ShardAddress;
  /** All shards of a class, in the order of its sharding state. */
  shardsOf(record: ClassRecord): readonly ShardAddress[];
  /**
   * The node that serves `shard`; shards of one node give the same object, so requests can be grouped by it.
   * Fails with `unavailable`, naming node and shard, when that node is not known.
   */
  node(shard: ShardAddress): ShardService;
}

/** As writes across shards need it: what may go to any shard goes to one that is there. */
export interface WriteRouter extends ShardRouter {
  /** Whether the node that serves `shard` is lost, and nothing says that it comes back soon. */
  isLost(shard: ShardAddress): boolean;
}
