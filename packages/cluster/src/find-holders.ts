import { type ObjectId, ShoalError, withPrefix } from "@shoal/model";
import type { ClassRecord, FoundObjects, RequestContext, SchemaSnapshot, ShardAddress, ShardService } from "@shoal/rpc";
import { type NodePlan, type NodePlans, nodePlans } from "./node-plans.js";
import type { ShardRouter } from "./shard-router.js";

/** Which classes have an id. A class whose shard could not be asked is not among them. */
export interface Holders {
  /** By name. */
  readonly holding: readonly ClassRecord[];
  /** Why a shard that may have it could not be asked: the first reason. */
  readonly failure: ShoalError | undefined;
}

/** Shards that could not be asked for the same reason: one, or all of a node. */
interface UnaskedShards {
  readonly shards: readonly ShardAddress[];
  readonly error: ShoalError;
  /** Whether the message names the shard. */
  readonly isNamed: boolean;
}

interface NodeAnswer {
  readonly holders: FoundObjects["holders"];
  readonly unasked: readonly UnaskedShards[];
}

const NOWHERE: Holders = { holding: [], failure: undefined };

/** Where objects are: one answer an id, one request a node. Never fails: what is not known is told. */
export async function findHolders(
  router: ShardRouter,
  schema: SchemaSnapshot,
  ids: readonly ObjectId[],
  context: RequestContext,
): Promise<readonly Holders[]> {
  const plans = nodePlans(router, schema);
  const answers = await Promise.all(plans.nodes.map((plan) => ask(router, plan, ids, schema.version, context)));
  const unasked = answers.flatMap((answer) => answer.unasked);
  return ids.map((id, at) => {
    let holding: readonly ClassRecord[] = NOWHERE.holding;
    for (const { holders } of answers) holding = joined(holding, recordsOf(router, plans, id, holders[at] ?? []));
    if (unasked.length === 0) return holding.length === 0 ? NOWHERE : { holding, failure: undefined };
    return { holding, failure: failureFor(router, plans, id, unasked) };
  });
}

/** As {@link findHolders}, for one id. */
export async function findHoldersOf(
  router: ShardRouter,
  schema: SchemaSnapshot,
  id: ObjectId,
  context: RequestContext,
): Promise<Holders> {
  const [holders] = await findHolders(router, schema, [id], context);
  return holders ?? NOWHERE;
}

/**
 * The first class by name that has the id. When none of those that could be asked has it and some could not, fails with
 * their error.
 */
export async function findFirstHolder(
  router: ShardRouter,
  schema: SchemaSnapshot,
  id: ObjectId,
  context: RequestContext,
): Promise<ClassRecord | undefined> {
  return firstHolder(await findHoldersOf(router, schema, id, context));
}

/** The first class by name; fails with the failure when there is none. */
export function firstHolder({ holding, failure }: Holders): ClassRecord | undefined {
  if (holding[0] === undefined && failure !== undefined) throw failure;
  return holding[0];
}

async function ask(
  router: ShardRouter,
  { first, shards }: NodePlan,
  ids: readonly ObjectId[],
  schemaVersion: number,
  context: RequestContext,
): Promise<NodeAnswer> {
  let node: ShardService | undefined;
  try {
    node = router.node(first);
    const { holders, unasked } = await node.findObjects(ids, schemaVersion, context);
    return { holders, unasked: unasked.map(({ shard, error }) => ({ shards: [shard], error, isNamed: true })) };
  } catch (thrown) {
    return { holders: [], unasked: [{ shards, error: ShoalError.from(thrown), isNamed: node === undefined }] };
  }
}

/** The classes of the shards that said yes. A damaged shard may say so for an id that belongs to another one. */
function recordsOf(
  router: ShardRouter,
  { recordOf }: NodePlans,
  id: ObjectId,
  shards: readonly ShardAddress[],
): readonly ClassRecord[] {
  if (shards.length === 0) return NOWHERE.holding;
  return shards.flatMap((shard) => {
    const record = recordOf.get(shard.classId);
    return record === undefined || router.shardOf(record, id).shardName !== shard.shardName ? [] : [record];
  });
}

function joined(before: readonly ClassRecord[], more: readonly ClassRecord[]): readonly ClassRecord[] {
  if (more.length === 0) return before;
  const all = [...before, ...more];
  return all.length === 1 ? all : all.sort(byName);
}

/** Of an id whose class is not known several shards may own it: so many are told. */
const OWNERS_TOLD_MAX = 3;

/** Why the shards that own the id in their classes could not be asked; undefined when they all were. Names them. */
function failureFor(
  router: ShardRouter,
  { recordOf }: NodePlans,
  id: ObjectId,
  unasked: readonly UnaskedShards[],
): ShoalError | undefined {
  for (const { shards, error, isNamed } of unasked) {
    const owners: string[] = [];
    for (const { classId, className, shardName } of shards) {
      const record = recordOf.get(classId);
      if (record === undefined || router.shardOf(record, id).shardName !== shardName) continue;
      if (isNamed) return error;
      if (owners.push(`shard ${shardName} of class '${className}'`) === OWNERS_TOLD_MAX) break;
    }
    if (owners.length > 0) return withPrefix(`${owners.join(" or ")}: `, error);
  }
  return undefined;
}

function byName(a: ClassRecord, b: ClassRecord): number {
  return a.definition.class < b.definition.class ? -1 : 1;
}
