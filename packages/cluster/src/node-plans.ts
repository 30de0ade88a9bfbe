import {
  type ClassRecord,
  type SchemaSnapshot,
  type ShardAddress,
  type ShardKey,
  type ShardService,
  shardKeyOf,
} from "@shoal/rpc";
import { holderOf, type ShardRouter } from "./shard-router.js";

/** The shards of one node: those with copies of which it has the primary, and those that only it has. */
export interface NodePlan {
  /** By which the node is found. */
  readonly first: ShardAddress;
  readonly shards: readonly ShardAddress[];
}

/** Which nodes have to be asked for something that may be in any class. */
export interface NodePlans {
  readonly schema: SchemaSnapshot;
  readonly nodes: readonly NodePlan[];
  readonly recordOf: ReadonlyMap<string, ClassRecord>;
  /**
   * Which plan asks for a shard, while some have copies: then a node also speaks of copies for which another one is asked.
   * Undefined: none has.
   */
  readonly planOf: ReadonlyMap<ShardKey, NodePlan> | undefined;
  /** See `PrimaryRouter`. */
  readonly version: number | undefined;
}

const lastPlans = new WeakMap<ShardRouter, NodePlans>();
/** Those of other schemas that are still in use: parts of the same one, as users with few rights see it. */
const otherPlans = new WeakMap<ShardRouter, WeakMap<SchemaSnapshot, NodePlans>>();

/** Worked out once a schema, and again when a shard has another primary, so that a request costs something for each node and nothing for each class. */
export function nodePlans(router: ShardRouter, schema: SchemaSnapshot): NodePlans {
  const version = router.primaries?.version;
  const known = lastPlans.get(router);
  if (known?.schema === schema && known.version === version) return known;
  const before = otherPlans.get(router)?.get(schema);
  if (before !== undefined && before.version === version) {
    lastPlans.set(router, before);
    return before;
  }
  const byNode = new Map<ShardService, { first: ShardAddress; shards: ShardAddress[] }>();
  const unreachable: NodePlan[] = [];
  let hasCopies = false;
  for (const record of schema.classes) {
    for (const shard of router.shardsOf(record)) {
      hasCopies ||= router.primaries?.has(shard) === true;
      const node = nodeOrUndefined(router, shard);
      const plan = node === undefined ? undefined : byNode.get(node);
      if (plan !== undefined) plan.shards.push(shard);
      else if (node !== undefined) byNode.set(node, { first: shard, shards: [shard] });
      else unreachable.push({ first: shard, shards: [shard] });
    }
  }
  const recordOf = new Map(schema.classes.map((record) => [record.classId, record]));
  const nodes = [...byNode.values(), ...unreachable];
  const plans = { schema, nodes, recordOf, planOf: hasCopies ? planByShard(nodes) : undefined, version };
  // Who serves a shard that nobody serves now is not known: next time the response may be another.
  if (unreachable.length > 0) return plans;
  lastPlans.set(router, plans);
  const others = otherPlans.get(router) ?? new WeakMap<SchemaSnapshot, NodePlans>();
  otherPlans.set(router, others.set(schema, plans));
  return plans;
}

function planByShard(nodes: readonly NodePlan[]): ReadonlyMap<ShardKey, NodePlan> {
  return new Map(nodes.flatMap((plan) => plan.shards.map((shard) => [shardKeyOf(shard), plan] as const)));
}

/** The node that answers for `shard`; undefined when that is not known. */
export function nodeOrUndefined(router: ShardRouter, shard: ShardAddress): ShardService | undefined {
  try {
    return holderOf(router, shard);
  } catch {
    return undefined;
  }
}
