import type { ClassRecord, SchemaSnapshot, ShardAddress, ShardService } from "@shoal/rpc";
import type { ShardRouter } from "./shard-router.js";

/** The shards of one node. */
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
}

const lastPlans = new WeakMap<ShardRouter, NodePlans>();
/** Those of other schemas that are still in use: parts of the same one, as users with few rights see it. */
const otherPlans = new WeakMap<ShardRouter, WeakMap<SchemaSnapshot, NodePlans>>();

/** Worked out once a schema, so that a request costs something for each node and nothing for each class. */
export function nodePlans(router: ShardRouter, schema: SchemaSnapshot): NodePlans {
  const known = lastPlans.get(router);
  if (known?.schema === schema) return known;
  const before = otherPlans.get(router)?.get(schema);
  if (before !== undefined) {
    lastPlans.set(router, before);
    return before;
  }
  const byNode = new Map<ShardService, { first: ShardAddress; shards: ShardAddress[] }>();
  const unreachable: NodePlan[] = [];
  for (const record of schema.classes) {
    for (const shard of router.shardsOf(record)) {
      const node = nodeOrUndefined(router, shard);
      const plan = node === undefined ? undefined : byNode.get(node);
      if (plan !== undefined) plan.shards.push(shard);
      else if (node !== undefined) byNode.set(node, { first: shard, shards: [shard] });
      else unreachable.push({ first: shard, shards: [shard] });
    }
  }
  const recordOf = new Map(schema.classes.map((record) => [record.classId, record]));
  const plans = { schema, nodes: [...byNode.values(), ...unreachable], recordOf };
  // Who serves a shard that nobody serves now is not known: next time the answer may be another.
  if (unreachable.length > 0) return plans;
  lastPlans.set(router, plans);
  const others = otherPlans.get(router) ?? new WeakMap<SchemaSnapshot, NodePlans>();
  otherPlans.set(router, others.set(schema, plans));
  return plans;
}

/** The node that serves `shard`; undefined when that is not known. */
export function nodeOrUndefined(router: ShardRouter, shard: ShardAddress): ShardService | undefined {
  try {
    return router.node(shard);
  } catch {
    return undefined;
  }
}
