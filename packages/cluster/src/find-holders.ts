import { type ObjectId, type ShoalError, withPrefix } from "@shoal/model";
import { type ClassRecord, type SchemaSnapshot, type ShardAddress, shardPlaceOf } from "@shoal/rpc";
import { InnerContext, type RequestContext } from "@shoal/runtime";
import { askNode, askPlan, type HolderQuestion, type NodeResponse, type UnaskedShards } from "./ask-holders.js";
import { firstHolder, type Holders } from "./holders.js";
import { nodeOrUndefined, nodePlans } from "./node-plans.js";
import type { ShardRouter } from "./shard-router.js";
import { inOrderOfCreation } from "./twins.js";

/** An id that belongs to a class: only the class's own shard must answer for it. */
export interface OwnId {
  readonly id: ObjectId;
  /** Undefined: nobody must answer; what could not be asked is reported all the same. */
  readonly record: ClassRecord | undefined;
}

/**
 * So long are others than the own shard waited for, in milliseconds: as long as a request waits for a node that was lost.
 * A node that is there answers within a few; one that has stopped silently is known to be lost after about three times as
 * long, and from then on it is not waited for at all.
 */
const OTHERS_WAIT_MS = 1_000;

interface Question extends HolderQuestion {
  readonly own: OwnId | undefined;
}

const NOWHERE: Holders = { holding: [], failure: undefined };

/**
 * Where objects are: one response an id, one request a node. A node that is known to be away is waited for only when an id is
 * found nowhere else, or with `needsFirst` so that it is known which one comes first; on behalf of the `own` one it is not, unless it has
 * the own shard. Never fails: what is not known is reported.
 */
export async function findHolders(
  router: ShardRouter,
  schema: SchemaSnapshot,
  ids: readonly ObjectId[],
  context: RequestContext,
  own?: OwnId,
  needsFirst = false,
): Promise<readonly Holders[]> {
  const found = await findByName(router, schema, ids, context, own, needsFirst);
  return context.rights === undefined ? found : inOrderOfCreation(router, ids, found, context);
}

async function findByName(
  router: ShardRouter,
  schema: SchemaSnapshot,
  ids: readonly ObjectId[],
  context: RequestContext,
  own: OwnId | undefined,
  needsFirst: boolean,
): Promise<readonly Holders[]> {
  const plans = nodePlans(router, schema);
  const question: Question = { router, plans, own };
  const ownShard = own?.record && router.shardOf(own.record, own.id);
  const ownNode = ownShard && nodeOrUndefined(router, ownShard);
  const waitMsMax = own === undefined ? Number.POSITIVE_INFINITY : OTHERS_WAIT_MS;
  const soon = new InnerContext(context, { waitMsMax });
  const { primaries } = router;
  const asked = plans.nodes.map((plan) => {
    const isOwn = ownNode !== undefined && nodeOrUndefined(router, plan.first) === ownNode;
    const outer = isOwn ? context : soon;
    if (plans.planOf === undefined || primaries === undefined) return askNode(question, plan, ids, outer);
    return askPlan(question, primaries, plan, ids, outer, (shard) => (shard === ownShard ? context : soon));
  });
  const responses = (await Promise.all(asked)).flat();
  const found = holdersFrom(question, ids, responses);
  const silent = responses.filter(({ again }) => again !== undefined);
  const unasked = silent.flatMap((response) => response.unasked);
  const openAt = [...ids.keys()].filter((at) => {
    const [id, holders] = [ids[at], found[at]];
    if (id === undefined || id === own?.id || holders?.failure === undefined) return false;
    return (needsFirst || holders.holding.length === 0) && failureFor(question, id, unasked) !== undefined;
  });
  if (openAt.length === 0) return found;
  const open = openAt.flatMap((at) => ids[at] ?? []);
  const later = (await Promise.all(silent.map(({ again }) => again?.(open, context) ?? []))).flat();
  const responded = responses
    .filter(({ again }) => again === undefined)
    .map((response) => ({ ...response, holders: openAt.map((at) => response.holders[at] ?? []) }));
  const all = [...responded, ...later];
  const openFound = holdersFrom(question, open, all);
  const foundLater = new Map(open.map((id, at) => [id, openFound[at]]));
  return ids.map((id, at) => foundLater.get(id) ?? found[at] ?? NOWHERE);
}

function holdersFrom(
  question: Question,
  ids: readonly ObjectId[],
  responses: readonly NodeResponse[],
): readonly Holders[] {
  const unasked = responses.flatMap((response) => response.unasked);
  return ids.map((id, at) => {
    let { holding } = NOWHERE;
    for (const { holders } of responses) holding = joined(holding, recordsOf(question, id, holders[at] ?? []));
    const failure = failureFor(question, id, unasked);
    return holding.length === 0 && failure === undefined ? NOWHERE : { holding, failure };
  });
}

/** As {@link findHolders}, for one id. Without an `own` one it is asked for the first one, which where roles are on is the oldest. */
export async function findHoldersOf(
  router: ShardRouter,
  schema: SchemaSnapshot,
  id: ObjectId,
  context: RequestContext,
  own?: OwnId,
): Promise<Holders> {
  const needsFirst = own === undefined && context.rights !== undefined;
  const [holders] = await findHolders(router, schema, [id], context, own, needsFirst);
  return holders ?? NOWHERE;
}

/** The class that a change of the id acts on, see `firstHolder`. */
export async function findFirstHolder(
  router: ShardRouter,
  schema: SchemaSnapshot,
  id: ObjectId,
  context: RequestContext,
): Promise<ClassRecord | undefined> {
  return firstHolder(await findHoldersOf(router, schema, id, context), context);
}

/** The classes of the shards that said yes. A damaged shard may say so for an id that belongs to another one. */
function recordsOf(
  { router, plans: { recordOf } }: Question,
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

/** Of an id whose class is not known several shards may own it: so many are named. */
const OWNERS_TOLD_MAX = 3;

/** Why the shards that own the id, each in its class, could not be asked; undefined when all that matter were. Names them. */
function failureFor(
  { router, plans: { recordOf }, own }: Question,
  id: ObjectId,
  unasked: readonly UnaskedShards[],
): ShoalError | undefined {
  const only = own?.id === id ? own.record?.classId : undefined;
  for (const { shards, error, isNamed } of unasked) {
    const owners: string[] = [];
    for (const shard of shards) {
      const { classId, shardName } = shard;
      const record = only === undefined || only === classId ? recordOf.get(classId) : undefined;
      if (record === undefined || router.shardOf(record, id).shardName !== shardName) continue;
      if (isNamed) return error;
      if (owners.push(shardPlaceOf(shard)) === OWNERS_TOLD_MAX) break;
    }
    if (owners.length > 0) return withPrefix(`${owners.join(" or ")}: `, error);
  }
  return undefined;
}

function byName(a: ClassRecord, b: ClassRecord): number {
  return a.definition.class < b.definition.class ? -1 : 1;
}
