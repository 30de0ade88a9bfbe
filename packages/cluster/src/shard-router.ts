import type { ObjectId, ShoalError } from "@shoal/model";
import type { ClassRecord, ShardAddress, ShardKey, ShardService } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";

/** Where data lives: which shard an object belongs to, and who serves a shard. */
export interface ShardRouter {
  /** The shard that owns `id`, by the class's ring. */
  shardOf(record: ClassRecord, id: ObjectId): ShardAddress;
  /** All shards of a class, in the order of its sharding state. */
  shardsOf(record: ClassRecord): readonly ShardAddress[];
  /**
   * Who serves `shard`: its node, or, when it has copies, whichever of their nodes may answer a question. Fails with `unavailable`,
   * naming node and shard, when the node is not known.
   */
  node(shard: ShardAddress): ShardService;
  /** Of the shards that have copies; absent: there are none. */
  readonly primaries?: PrimaryRouter | undefined;
}

/** A question that only the primary of a shard may answer. */
export interface PrimaryQuestion<T> {
  readonly ask: (node: ShardService, context: RequestContext) => Promise<T>;
  /** Whether it may be asked again when it may have been carried out. */
  readonly isRepeatable: () => boolean;
  /** About so much memory it takes while it waits. */
  readonly heldBytes: () => number;
}

/** Which nodes the primaries of shards are on. */
export interface PrimaryRouter {
  /** Another one whenever a primary may be on another node. */
  readonly version: number;
  /** Whether the shard has copies. */
  has(shard: ShardAddress): boolean;
  /**
   * The node of the primary; undefined: the shard has no copies. Fails with `unavailable`, naming node and shard, when it is not
   * known.
   */
  primaryOf(shard: ShardAddress): ShardService | undefined;
  /** Takes the configuration that a node has refused with, if it is newer than what is known. */
  learn(shard: ShardKey, refusal: ShoalError): void;
  /**
   * Asks the primary, again when another copy has become primary, or nobody answers for a while; not so when `waitMsMax` bounds
   * `context`. `ask` fails with `moved` when the node refuses to answer for the shard.
   */
  askPrimary<T>(shard: ShardAddress, question: PrimaryQuestion<T>, context: RequestContext): Promise<T>;
}

/**
 * The node that answers for `shard` in `findObjects`. Shards of one node give the same object, so requests can be grouped by it.
 * Fails with `unavailable` when it is not known.
 */
export function holderOf(router: ShardRouter, shard: ShardAddress): ShardService {
  return router.primaries?.primaryOf(shard) ?? router.node(shard);
}

/** As writes across shards need it: what may go to any shard goes to one that is there. */
export interface WriteRouter extends ShardRouter {
  /** Whether the node that serves `shard` is lost, and nothing says that it comes back soon. */
  isLost(shard: ShardAddress): boolean;
}
