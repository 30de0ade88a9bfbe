import type { SchemaView, ShardRouter } from "@shoal/cluster";
import { type ObjectListing, type RowFields, ShoalError, type StoredObject, unknownClass } from "@shoal/model";
import type { ClassRecord, SchemaSnapshot, ShardAddress } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { fetchRows, rowsOnTrial } from "./fetch-rows.js";
import { classesByName } from "./find-object.js";
import { type Page, type PageLimits, pageOfList } from "./pagination.js";
import { filterFailure } from "./plan-filter.js";
import type { ListQuery } from "./query-service.js";
import { mergeSorted, scatter } from "./scatter.js";

export interface ListParts {
  readonly router: ShardRouter;
  readonly schema: Pick<SchemaView, "snapshot">;
  readonly limits: PageLimits;
}

/**
 * A page of `GET /v1/objects`: newest first over all classes or one; with `after`, one class by ascending id, from
 * its beginning when that is empty (no id is before the nil uuid).
 * Fails with `invalid` on a page out of bounds, on `after` without a class or with an offset, and on an unknown class.
 */
export async function listObjects(
  { router, schema, limits }: ListParts,
  query: ListQuery,
  context: RequestContext,
): Promise<readonly StoredObject[]> {
  if (query.after !== undefined && query.className === undefined) {
    throw new ShoalError("invalid", "query parameter 'after' needs 'class', too: ids are ordered within one class");
  }
  if (query.after !== undefined && query.offset !== undefined) {
    throw new ShoalError("invalid", "query parameters 'after' and 'offset' exclude each other: leave one of them out");
  }
  const records = classesOf(schema.snapshot, query.className);
  const page = pageOfList(query.limit, query.offset, limits);
  const order = query.after === undefined ? "newest" : "id";
  return collectPage(router, records, { order, after: query.after || undefined, fields: query.fields }, page, context);
}

/** Pages up to so many objects come with their rows from every shard at once, if these are small. */
const ROWS_WITH_LIST_MAX = 100;

/** How often a page is put together again because objects of it have been deleted meanwhile. */
const ROUNDS_MAX = 3;

const NO_FIELDS: RowFields = { properties: false, vector: false, extras: false };

/**
 * One page over all shards of the classes, in the order of the listing. Of several shards each may have all of the page:
 * when it is large, they tell ids and times first, so that memory holds the rows of one page and not of one a shard.
 */
export async function collectPage(
  router: ShardRouter,
  records: readonly ClassRecord[],
  listing: Omit<ObjectListing, "limit" | "skip">,
  page: Page,
  context: RequestContext,
): Promise<readonly StoredObject[]> {
  if (page.limit === 0) return [];
  const shards = records.flatMap((record) => router.shardsOf(record));
  if (shards.length === 1) return mergedPage(router, shards, listing, page, context);
  if (page.offset + page.limit <= ROWS_WITH_LIST_MAX) {
    const small = await rowsOnTrial(context, (inner) => mergedPage(router, shards, listing, page, inner));
    if (small !== undefined) return small;
  }
  const recordOf = new Map(records.map((record) => [record.definition.class, record]));
  for (let round = 1; ; round++) {
    const listed = await mergedPage(router, shards, { ...listing, fields: NO_FIELDS }, page, context);
    const placed = listed.flatMap(({ id, className }) => {
      const record = recordOf.get(className);
      return record === undefined ? [] : { id, record };
    });
    const fetched = await fetchRows(router, placed, listing.fields, context);
    const rows = fetched.filter((object) => object !== undefined);
    if (rows.length === listed.length || round === ROUNDS_MAX) return rows;
    context.rowBytes?.add(
      -rows.reduce((sum, row) => sum + row.propertiesJson.length + (row.vector?.byteLength ?? 0), 0),
    );
  }
}

async function mergedPage(
  router: ShardRouter,
  shards: readonly ShardAddress[],
  listing: Omit<ObjectListing, "limit" | "skip">,
  page: Page,
  context: RequestContext,
): Promise<readonly StoredObject[]> {
  // One shard passes over the skipped objects by itself; of several, nobody knows whose they are before the merge.
  const isOnly = shards.length === 1;
  const skip = isOnly ? page.offset : 0;
  const limit = isOnly ? page.limit : page.offset + page.limit;
  const pages = await scatter(shards, context, (shard, inner) => {
    const page = router.node(shard).listObjects(shard, { ...listing, skip, limit }, inner);
    return listing.filter === undefined ? page : page.catch((thrown) => Promise.reject(filterFailure(shard, thrown)));
  });
  const order = listing.order === "newest" ? newestFirst : ascendingId;
  return mergeSorted(pages, order, isOnly ? 0 : page.offset, page.limit);
}

function classesOf(schema: SchemaSnapshot, className: string | undefined): readonly ClassRecord[] {
  const records = classesByName(schema);
  if (className === undefined) return records;
  const record = records.find(({ definition }) => definition.class === className);
  if (record === undefined) {
    throw unknownClass(
      className,
      records.map(({ definition }) => definition),
    );
  }
  return [record];
}

function newestFirst(a: StoredObject, b: StoredObject): number {
  return b.creationTimeUnix - a.creationTimeUnix || ascendingId(a, b);
}

/** Canonical ids order as their raw bytes do. */
function ascendingId(a: StoredObject, b: StoredObject): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
