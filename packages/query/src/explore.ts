import type { ShardRouter } from "@shoal/cluster";
import { type ExploreQuery, ShoalError, type VectorSearchHit, withPrefix } from "@shoal/model";
import type { ClassRecord, RequestContext, SchemaSnapshot } from "@shoal/rpc";
import { classesByName } from "./find-object.js";
import { mergeSorted } from "./merge-sorted.js";
import { nearestFirst } from "./near-search.js";
import { nearVectorOf } from "./near-vector-of.js";
import { type Page, type PageLimits, pageOfExplore } from "./pagination.js";
import type { ExploreRow } from "./query-service.js";
import { scatter } from "./scatter.js";

interface ClassHit extends VectorSearchHit {
  readonly className: string;
}

/**
 * The objects nearest to a vector of all classes that can answer: those with a vector index and vectors of that length.
 * By distance, then id, then class; the certainty minimum applies after the page is cut (reference-graphql 3).
 */
export async function explore(
  router: ShardRouter,
  schema: SchemaSnapshot,
  limits: PageLimits,
  query: ExploreQuery,
  context: RequestContext,
): Promise<readonly ExploreRow[]> {
  if (query.nearVector === undefined && query.nearObject === undefined) {
    throw new ShoalError(
      "invalid",
      "invalid params: received no search params, one of [nearVector, nearObject] or module search params is " +
        "required for an exploration",
    );
  }
  const page = exploredPage(query, limits);
  const { vector, certainty } = await nearVectorOf(router, schema, query, "vectorize params: ", context);
  if (vector.length === 0) {
    throw new ShoalError("invalid", "vector search: got a nil or zero-length vector as search vector");
  }
  const records = classesByName(schema).filter(
    ({ definition, dimensions }) => !definition.vectorIndexConfig.skip && dimensions === vector.length,
  );
  const hits = await nearestOf(router, records, vector, page, context);
  const rows: ExploreRow[] = [];
  for (const { id, className, distance } of hits) {
    const row = { id, className, certainty: Math.fround(1 - distance / 2) };
    if (certainty === undefined || !(row.certainty < certainty)) rows.push(row);
  }
  return rows;
}

/** The page over all shards. What a shard answers is merged when it comes: memory holds one page, not one a shard. */
async function nearestOf(
  router: ShardRouter,
  records: readonly ClassRecord[],
  vector: Float32Array,
  page: Page,
  context: RequestContext,
): Promise<readonly ClassHit[]> {
  const count = page.offset + page.limit;
  let best: readonly ClassHit[] = [];
  const shards = records.flatMap((record) => router.shardsOf(record));
  await scatter(shards, context, async (shard, inner) => {
    const { className, shardName } = shard;
    try {
      const hits = await router.node(shard).searchByVector(shard, { vector, count, fields: undefined }, inner);
      const named = hits.map(({ id, distance, object }) => ({ id, distance, object, className }));
      best = mergeSorted([best, named], nearestFirstByClass, 0, count);
    } catch (thrown) {
      const index = className.toLowerCase();
      throw withPrefix(`vector search: search index ${index}: shard ${index}_${shardName}: `, thrown);
    }
  });
  return best.slice(page.offset);
}

function exploredPage({ limit, offset }: ExploreQuery, limits: PageLimits): Page {
  try {
    return pageOfExplore(limit, offset, limits);
  } catch (thrown) {
    throw withPrefix("vector search: invalid pagination params: ", thrown);
  }
}

function nearestFirstByClass(a: ClassHit, b: ClassHit): number {
  return nearestFirst(a, b) || (a.className < b.className ? -1 : a.className > b.className ? 1 : 0);
}
