import type { ShardRouter } from "@shoal/cluster";
import {
  checkDimensions,
  type RowFields,
  type ShardFilter,
  ShoalError,
  type VectorSearch,
  type VectorSearchHit,
  withPrefix,
} from "@shoal/model";
import type { ClassRecord, ShardAddress } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { fetchRows, rowsOnTrial } from "./fetch-rows.js";
import type { Page } from "./pagination.js";
import { FILTER_PREFIX, shardPrefix } from "./plan-filter.js";
import type { GetRow } from "./query-service.js";
import { mergeSorted, scatter } from "./scatter.js";

/** Pages up to so many rows come with them from every shard at once, if these are small; else only winners' are fetched. */
const ROWS_WITH_HITS_MAX = 100;

export interface NearSearch {
  /** Not normalised. */
  readonly vector: Float32Array;
  readonly certainty: number | undefined;
  readonly fields: RowFields;
  /** Objects that may be hits; all when absent. */
  readonly filter?: ShardFilter | undefined;
}

/**
 * The objects of a class nearest to a vector, merged over its shards by distance, then id. The certainty minimum applies
 * after the page is cut (reference-graphql 2.4, 2.7). A class that never had a vector has no neighbours.
 */
export async function nearSearch(
  router: ShardRouter,
  record: ClassRecord,
  search: NearSearch,
  page: Page,
  context: RequestContext,
): Promise<readonly GetRow[]> {
  const shards = router.shardsOf(record);
  checkSearchable(record, search);
  if (record.dimensions === undefined || page.limit === 0) return [];
  const count = page.offset + page.limit;
  const wantsRows = search.fields.properties || search.fields.vector || search.fields.extras;
  const { vector, filter } = search;
  const rowsMax = likelyShare(count, shards.length);
  const ask = (fields: RowFields | undefined, outer: RequestContext) => {
    const asked = { vector, count, fields, filter, shards: shards.length, rowsMax };
    return scatter(shards, outer, (shard, inner) => askShard(router, shard, inner, asked));
  };
  let lists: readonly (readonly VectorSearchHit[])[] | undefined;
  if (wantsRows && shards.length === 1 && page.offset === 0) lists = await ask(search.fields, context);
  else if (wantsRows && count <= ROWS_WITH_HITS_MAX) {
    lists = await rowsOnTrial(context, (inner) => ask(search.fields, inner));
  }
  lists ??= await ask(undefined, context);
  const hits = mergeSorted(lists, nearestFirst, page.offset, page.limit);
  const missing = wantsRows ? hits.filter(({ object }) => object === undefined) : [];
  const placed = missing.map(({ id }) => ({ id, record }));
  const fetched = placed.length === 0 ? [] : await fetchRows(router, placed, search.fields, context);
  let next = 0;
  const rows: GetRow[] = [];
  for (const hit of hits) {
    const object = wantsRows ? (hit.object ?? fetched[next++]) : undefined;
    const certainty = Math.fround(1 - hit.distance / 2);
    // Both as float32: a certainty that was printed lets through what it was printed of.
    if (search.certainty !== undefined && certainty < Math.fround(search.certainty)) continue;
    // Deleted between the search and the fetch of its row.
    if (wantsRows && object === undefined) continue;
    rows.push({ id: hit.id, object, certainty });
  }
  return rows;
}

/**
 * So many of the nearest `count` objects does one of several shards hardly ever hold more than: the mean and two standard
 * deviations of a binomial distribution, as ids are spread evenly. Rows of winners beyond are fetched.
 */
function likelyShare(count: number, shards: number): number {
  const mean = count / shards;
  return Math.min(count, Math.ceil(mean + 2 * Math.sqrt(mean * (1 - 1 / shards))));
}

/** The error of a search by a vector of no numbers. */
export const EMPTY_VECTOR = "the vector that is searched for is empty: give its numbers in nearVector.vector";

function checkSearchable({ definition, dimensions }: ClassRecord, { vector }: NearSearch): void {
  const className = definition.class;
  if (definition.vectorIndexConfig.skip) {
    throw new ShoalError(
      "invalid",
      `class '${className}' has no vector index (vectorIndexConfig.skip), so it cannot be searched by vectors`,
    );
  }
  if (vector.length === 0) throw new ShoalError("invalid", EMPTY_VECTOR);
  if (dimensions !== undefined) checkDimensions(className, vector.length, dimensions);
}

async function askShard(
  router: ShardRouter,
  shard: ShardAddress,
  context: RequestContext,
  search: VectorSearch,
): Promise<readonly VectorSearchHit[]> {
  try {
    return await router.node(shard).searchByVector(shard, search, context);
  } catch (thrown) {
    // Everything else that a shard may refuse was looked at before.
    const isFilter = search.filter !== undefined && ShoalError.from(thrown).code === "invalid";
    throw withPrefix(isFilter ? FILTER_PREFIX : shardPrefix(shard), thrown);
  }
}

/** By distance, those that are no number last, then by id. */
export function nearestFirst(a: VectorSearchHit, b: VectorSearchHit): number {
  const aLast = Number.isNaN(a.distance);
  const bLast = Number.isNaN(b.distance);
  if (aLast !== bLast) return aLast ? 1 : -1;
  if (!aLast && a.distance !== b.distance) return a.distance - b.distance;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
