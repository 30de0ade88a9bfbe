import { type ObjectId, ShoalError, withPrefix } from "@shoal/model";
import {
  deliveryOf,
  type FoundObjects,
  type ShardAddress,
  type ShardService,
  shardKeyOf,
  shardPlaceOf,
  undelivered,
} from "@shoal/rpc";
import { InnerContext, type RequestContext } from "@shoal/runtime";
import { isMoved, isNotServed } from "./copy-routes.js";
import type { NodePlan, NodePlans } from "./node-plans.js";
import { holderOf, type PrimaryQuestion, type PrimaryRouter, type ShardRouter } from "./shard-router.js";

/** Shards that could not be asked for the same reason: one, or all of a node. */
export interface UnaskedShards {
  readonly shards: readonly ShardAddress[];
  readonly error: ShoalError;
  /** Whether the message names the shard. */
  readonly isNamed: boolean;
}

/** Asks those once more that did not answer. */
type AskAgain = (ids: readonly ObjectId[], context: RequestContext) => Promise<readonly NodeResponse[]>;

export interface NodeResponse {
  /** An id each. */
  readonly holders: FoundObjects["holders"];
  readonly unasked: readonly UnaskedShards[];
  /** Undefined: what it says is final. Else it was not waited for, and may answer when it is. */
  readonly again: AskAgain | undefined;
}

export interface HolderQuestion {
  readonly router: ShardRouter;
  readonly plans: NodePlans;
}

/** Bounds how long is waited on behalf of a shard. */
export type ContextOf = (shard: ShardAddress) => RequestContext;

/** One request to a node for all of its shards. Of its response only what concerns those that are asked for counts. Never fails. */
export async function askNode(
  question: HolderQuestion,
  plan: NodePlan,
  ids: readonly ObjectId[],
  context: RequestContext,
  isAsked?: (shard: ShardAddress) => boolean,
): Promise<NodeResponse> {
  const { router, plans } = question;
  let node: ShardService | undefined;
  try {
    node = router.node(plan.first);
    const found = await node.findObjects(ids, plans.schema.version, context);
    return responseOf(isAsked === undefined ? found : limitedTo(found, isAsked));
  } catch (thrown) {
    const unasked = { shards: plan.shards, error: ShoalError.from(thrown), isNamed: node === undefined };
    return withoutResponse(unasked, context, async (later, outer) => [
      await askNode(question, plan, later, outer, isAsked),
    ]);
  }
}

/**
 * As {@link askNode}, while shards have copies: of its response only what concerns the plan's own shards counts. Those whose primary
 * is another copy by now, or does not answer, are asked for on their own, and the others once more.
 */
export async function askPlan(
  question: HolderQuestion,
  primaries: PrimaryRouter,
  plan: NodePlan,
  ids: readonly ObjectId[],
  context: RequestContext,
  contextOf: ContextOf = () => context,
): Promise<readonly NodeResponse[]> {
  const { router, plans } = question;
  const once = new InnerContext(context, { waitMsMax: context.waitMsMax ?? Number.POSITIVE_INFINITY });
  let node: ShardService | undefined;
  let found: FoundObjects;
  try {
    node = holderOf(router, plan.first);
    found = await node.findObjects(ids, plans.schema.version, once);
  } catch (thrown) {
    const [strays, others] = partsOf(plan.shards, (shard) => primaries.has(shard));
    if (!isNotServed(thrown)) {
      const unasked = { shards: plan.shards, error: ShoalError.from(thrown), isNamed: node === undefined };
      return [withoutResponse(unasked, context, (...later) => askPlan(question, primaries, plan, ...later))];
    }
    const [first] = others;
    const keys = new Set(others.map(shardKeyOf));
    const outer = others.map(contextOf).find(({ waitMsMax }) => waitMsMax === undefined) ?? context;
    const [response, responses] = await Promise.all([
      first && askNode(question, { first, shards: others }, ids, outer, (shard) => keys.has(shardKeyOf(shard))),
      askStrays(question, primaries, strays, ids, contextOf),
    ]);
    return response === undefined ? responses : [response, ...responses];
  }
  const own = limitedTo(found, (shard) => plans.planOf?.get(shardKeyOf(shard)) === plan);
  const [refused, unasked] = partsOf(own.unasked, ({ error }) => isMoved(error));
  const moved = new Map(refused.map(({ shard, error }) => [shardKeyOf(shard), error]));
  for (const [key, error] of moved) primaries.learn(key, error);
  const strays = moved.size === 0 ? [] : plan.shards.filter((shard) => moved.has(shardKeyOf(shard)));
  return [responseOf({ ...own, unasked }), ...(await askStrays(question, primaries, strays, ids, contextOf))];
}

/**
 * Asks the primary of each shard that may own an id, whichever node that is by then; a node that has several of them once at a
 * time. A shard is waited for as `contextOf` says.
 */
async function askStrays(
  question: HolderQuestion,
  primaries: PrimaryRouter,
  strays: readonly ShardAddress[],
  ids: readonly ObjectId[],
  contextOf: ContextOf,
): Promise<readonly NodeResponse[]> {
  const underWay = new Map<ShardService, Promise<FoundObjects>>();
  const askOnce = (node: ShardService, context: RequestContext): Promise<FoundObjects> => {
    const before = underWay.get(node);
    if (before !== undefined) return before;
    const found = node.findObjects(ids, question.plans.schema.version, context);
    underWay.set(node, found);
    const over = () => underWay.delete(node);
    found.then(over, over);
    return found;
  };
  const late: UnaskedShards[] = [];
  const responses = await Promise.all(
    ownersOf(question, strays, ids).map(async (shard): Promise<NodeResponse | undefined> => {
      const context = contextOf(shard);
      try {
        const found = await primaries.askPrimary(shard, holderQuestion(shard, askOnce), context);
        return responseOf(found);
      } catch (thrown) {
        const unasked = { shards: [shard], error: ShoalError.from(thrown), isNamed: true };
        if (context.waitMsMax === undefined) return { holders: [], unasked: [unasked], again: undefined };
        late.push(unasked);
        return undefined;
      }
    }),
  );
  const final = responses.filter((response) => response !== undefined);
  if (late.length === 0) return final;
  const left = late.flatMap(({ shards }) => shards);
  const again: AskAgain = (later, outer) => askStrays(question, primaries, left, later, () => outer);
  return [...final, { holders: [], unasked: late, again }];
}

function holderQuestion(
  shard: ShardAddress,
  ask: (node: ShardService, context: RequestContext) => Promise<FoundObjects>,
): PrimaryQuestion<FoundObjects> {
  const key = shardKeyOf(shard);
  return {
    isRepeatable: () => true,
    heldBytes: () => 0,
    ask: async (node, context) => {
      const all = await ask(node, context).catch((thrown: unknown) => Promise.reject(named(shard, thrown)));
      const found = limitedTo(all, (one) => shardKeyOf(one) === key);
      const refusal = found.unasked.find(({ error }) => isMoved(error));
      if (refusal !== undefined) throw refusal.error;
      return found;
    },
  };
}

/** The shards that own one of the ids, each in its class. */
function ownersOf(
  { router, plans: { recordOf } }: HolderQuestion,
  shards: readonly ShardAddress[],
  ids: readonly ObjectId[],
): readonly ShardAddress[] {
  const owners = new Set<ShardAddress>();
  for (const classId of new Set(shards.map((shard) => shard.classId))) {
    const record = recordOf.get(classId);
    if (record !== undefined) for (const id of ids) owners.add(router.shardOf(record, id));
  }
  return shards.filter((shard) => owners.has(shard));
}

function responseOf({ holders, unasked }: FoundObjects): NodeResponse {
  const named = unasked.map(({ shard, error }) => ({ shards: [shard], error, isNamed: true }));
  return { holders, unasked: named, again: undefined };
}

/** Who was not waited for may answer when it is. */
function withoutResponse(unasked: UnaskedShards, { waitMsMax }: RequestContext, again: AskAgain): NodeResponse {
  return { holders: [], unasked: [unasked], again: waitMsMax === undefined ? undefined : again };
}

function limitedTo({ holders, unasked }: FoundObjects, isAsked: (shard: ShardAddress) => boolean): FoundObjects {
  return {
    holders: holders.map((shards) => (shards.length === 0 ? shards : shards.filter(isAsked))),
    unasked: unasked.filter(({ shard }) => isAsked(shard)),
  };
}

/** Why the node of a shard did not answer, with the shard. */
function named(shard: ShardAddress, thrown: unknown): ShoalError {
  const delivery = deliveryOf(thrown);
  const error = withPrefix(`${shardPlaceOf(shard)}: `, ShoalError.from(thrown));
  return delivery === undefined ? error : undelivered(error, delivery);
}

function partsOf<T>(all: readonly T[], isFirst: (one: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}
