import type { ShardRouter } from "@shoal/cluster";
import {
  type AggregateGroup,
  type AggregateQuery,
  aggregateTooLarge,
  bytesOfAggregate,
  type ShardAggregate,
  type ShardAggregation,
  ShoalError,
  withPrefix,
} from "@shoal/model";
import type { ClassRecord, ShardAddress } from "@shoal/rpc";
import { ByteBudget, Gate, type RequestContext, type RowBytes } from "@shoal/runtime";
import { type FilterParts, planFilter, shardPrefix } from "../plan-filter.js";
import { queryYielder } from "../query-yielder.js";
import { scatter } from "../scatter.js";
import { checkAggregate } from "./check-aggregate.js";
import { mergeGroups, mergeParts } from "./merge-groups.js";

/** Of several shards one may hold so many times its even part of the bytes. */
const SKEW = 4;

export interface AggregateParts extends FilterParts {
  /** Memory of the groups and distinct values that one aggregation may hold (`AGGREGATE_BYTES_MAX`). */
  readonly aggregateBytesMax: number;
}

/**
 * Figures over a class: every shard answers for its objects, and the results merge exactly, so that they are those of one
 * shard to the last bit. Fails with `invalid` on what the class cannot answer, and with `tooLarge`, naming the limit, when
 * groups and distinct values take too much memory; messages of shards name the shard.
 */
export async function aggregateClass(
  parts: AggregateParts,
  record: ClassRecord,
  query: AggregateQuery,
  context: RequestContext,
): Promise<readonly AggregateGroup[]> {
  const { router, aggregateBytesMax } = parts;
  const shards = router.shardsOf(record);
  const checked = checkAggregate(record, query);
  if (checked === undefined) return [];
  const { groupBy, groupsMax, kinds } = checked;
  const filter = query.where && (await planFilter(parts, query.where, context));
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
  const received = new ReceivedBytes(aggregateBytesMax, context.rowBytes);
  try {
    const results = await scatter(shards, context, async (shard, inner) => {
      const result = await askShard(router, shard, aggregation, inner);
      received.add(bytesOfAggregate(result), !isWhole);
      return result;
    });
    const yielder = queryYielder(context);
    if (groupBy !== undefined) return await mergeGroups(results, groupsMax, query.properties, kinds, yielder);
    return [await mergeParts(undefined, results.flat(), query.properties, kinds, yielder)];
  } finally {
    received.end();
  }
}

/** What the results of the shards hold, which the shards have counted already: gives it back once they are merged. */
class ReceivedBytes {
  readonly #outer: RowBytes | undefined;
  readonly #held: ByteBudget;
  #bytes = 0;
  #hasEnded = false;

  constructor(bytesMax: number, outer: RowBytes | undefined) {
    this.#outer = outer;
    this.#held = new ByteBudget({ max: bytesMax, fullError: () => aggregateTooLarge(bytesMax, "AGGREGATE_BYTES_MAX") });
  }

  /** One that comes too late is given back at once. Fails with `tooLarge` when several together are too large. */
  add(bytes: number, isOfSeveral: boolean): void {
    if (this.#hasEnded) this.#outer?.add(-bytes, "aggregation");
    else this.#bytes += bytes;
    if (isOfSeveral) this.#held.add(bytes);
  }

  end(): void {
    this.#hasEnded = true;
    if (this.#bytes > 0) this.#outer?.add(-this.#bytes, "aggregation");
    this.#bytes = 0;
  }
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
    // What is asked for is at fault then, whichever shard says so.
    if (ShoalError.from(thrown).code === "invalid") throw thrown;
    throw withPrefix(shardPrefix(shard), thrown);
  }
}

/**
 * Lets the aggregations of one result be made one after another: all at once they would only hold more, and keep others
 * from their steps. What counts the bytes of a result names it.
 */
export class ResultQueue {
  readonly #gates = new WeakMap<RowBytes, Gate>();

  /**
   * In the order of the calls, whether those before fail or not. At once when nothing names the result. Whoever waits fails
   * with the signal's reason when it fires.
   */
  run<Result>(context: RequestContext, work: () => Promise<Result>): Promise<Result> {
    const { rowBytes } = context;
    if (rowBytes === undefined) return work();
    let gate = this.#gates.get(rowBytes);
    if (gate === undefined) {
      gate = new Gate({ max: 1 });
      this.#gates.set(rowBytes, gate);
    }
    return gate.run(1, context, work);
  }
}
