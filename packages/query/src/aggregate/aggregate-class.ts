import type { ShardRouter } from "@shoal/cluster";
import {
  AggregateBytes,
  type AggregateGroup,
  type AggregateQuery,
  bytesOfTexts,
  DISTINCT_NUMBER_BYTES,
  GROUP_BYTES,
  GROUP_PROPERTY_BYTES,
  type ShardAggregate,
  type ShardAggregation,
  withPrefix,
} from "@shoal/model";
import type { ClassRecord, RequestContext, ShardAddress } from "@shoal/rpc";
import { type FilterParts, planFilter } from "../plan-filter.js";
import { scatter } from "../scatter.js";
import { Turns } from "../turns.js";
import { aggregatePrefix, checkAggregate } from "./check-aggregate.js";
import { mergeGroups, mergeParts } from "./merge-groups.js";

/** Of several shards one may hold so many times its even part of the bytes. */
const SKEW = 4;

export interface AggregateParts {
  readonly router: ShardRouter;
  /** Memory of the groups and distinct values that one aggregation may hold (`AGGREGATE_BYTES_MAX`). */
  readonly aggregateBytesMax: number;
  readonly filters: FilterParts;
}

/**
 * Figures over a class: every shard answers for its objects, and the answers merge exactly, so that they are those of one
 * shard to the last bit. Fails with `invalid` on what the class cannot answer, and with `tooLarge`, naming the limit, when
 * groups and distinct values take too much memory; messages of shards name the shard.
 */
export async function aggregateClass(
  { router, aggregateBytesMax, filters }: AggregateParts,
  record: ClassRecord,
  query: AggregateQuery,
  context: RequestContext,
): Promise<readonly AggregateGroup[]> {
  const shards = router.shardsOf(record);
  const checked = checkAggregate(record, query, shards[0]);
  if (checked === undefined) return [];
  const { groupBy, groupsMax, kinds } = checked;
  const filter = query.where && (await planFilter(filters, query.where, context));
  if (groupBy !== undefined && groupsMax === 0) return [];
  const isWhole = shards.length <= 1;
  const aggregation: ShardAggregation = {
    filter,
    groupBy,
    properties: query.properties,
    isWhole,
    groupsMax,
    bytesMax: isWhole
      ? aggregateBytesMax
      : Math.min(aggregateBytesMax, Math.ceil((SKEW * aggregateBytesMax) / shards.length)),
  };
  const held = new AggregateBytes(aggregateBytesMax, "AGGREGATE_BYTES_MAX", undefined);
  const answers = await scatter(shards, context, async (shard, inner) => {
    const answer = await askShard(router, shard, aggregation, inner);
    if (!isWhole) held.add(bytesOf(answer));
    return answer;
  });
  const turns = new Turns(context);
  if (groupBy !== undefined) return mergeGroups(answers, groupsMax, query.properties, kinds, turns);
  return [await mergeParts(undefined, answers.flat(), query.properties, kinds, turns)];
}

async function askShard(
  router: ShardRouter,
  shard: ShardAddress,
  aggregation: ShardAggregation,
  context: RequestContext,
): Promise<ShardAggregate> {
  try {
    return await router.node(shard).aggregate(shard, aggregation, context);
  } catch (thrown) {
    throw withPrefix(aggregatePrefix(shard), thrown);
  }
}

/** What an answer takes in memory, counted as its shard has counted. */
function bytesOf(answer: ShardAggregate): number {
  let bytes = 0;
  for (const { properties } of answer) {
    bytes += GROUP_BYTES + properties.length * GROUP_PROPERTY_BYTES;
    for (const part of properties) {
      if (part.kind === "numbers") bytes += DISTINCT_NUMBER_BYTES * (part.distinct?.values.length ?? 0);
      else if (part.kind === "texts") bytes += bytesOfTexts(part.distinct?.values ?? []);
    }
  }
  return bytes;
}
