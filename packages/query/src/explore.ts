import type { ShardRouter } from "@shoal/cluster";
import { type ExploreQuery, type ModuleSearch, ShoalError, type VectorSearchHit, withPrefix } from "@shoal/model";
import type { SearchArgument } from "@shoal/module-api";
import type { ClassRecord } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { classesByName } from "./find-object.js";
import { EMPTY_VECTOR, nearestFirst } from "./near-search.js";
import {
  checkOneSearch,
  isSearch,
  nearVectorOf,
  type ReadSearch,
  readSearch,
  type SearchParts,
  vectorOfSearch,
} from "./near-vector-of.js";
import { type Page, type PageLimits, pageOfExplore } from "./pagination.js";
import { shardPrefix } from "./plan-filter.js";
import type { ExploreRow } from "./query-service.js";
import { mergeSorted, scatter } from "./scatter.js";

interface ClassHit extends VectorSearchHit {
  readonly className: string;
}

/**
 * The objects nearest to a vector of all classes that can answer: those with a vector index and vectors of that length.
 * Of a module's argument each vectorizer makes a vector of its own, with which the classes that use it are searched. By
 * distance, then id, then class; the certainty minimum applies after the page is cut (reference-graphql 3).
 */
export async function explore(
  parts: SearchParts & { readonly limits: PageLimits },
  query: ExploreQuery,
  context: RequestContext,
): Promise<readonly ExploreRow[]> {
  if (!isSearch(query)) {
    throw new ShoalError(
      "invalid",
      "Explore needs something to search for: nearVector, nearObject or the argument of a module, such as nearText",
    );
  }
  const page = pageOfExplore(query.limit, query.offset, parts.limits);
  checkOneSearch(query);
  const [search] = query.moduleSearches ?? [];
  const { classes, certainty } =
    search === undefined
      ? await searchedByVector(parts, query, context)
      : await searchedByModules(parts, search, context);
  const hits = await nearestOf(parts.router, classes, page, context);
  const rows: ExploreRow[] = [];
  for (const { id, className, distance } of hits) {
    const row = { id, className, certainty: Math.fround(1 - distance / 2) };
    if (certainty === undefined || !(row.certainty < Math.fround(certainty))) rows.push(row);
  }
  return rows;
}

/** A class, and what is searched for in it. */
interface SearchedClass {
  readonly record: ClassRecord;
  readonly vector: Float32Array;
}

interface Searched {
  readonly classes: readonly SearchedClass[];
  readonly certainty: number | undefined;
}

async function searchedByVector(parts: SearchParts, query: ExploreQuery, context: RequestContext): Promise<Searched> {
  const { vector, certainty } = await nearVectorOf(parts, query, context);
  if (vector.length === 0) {
    throw new ShoalError("invalid", EMPTY_VECTOR);
  }
  const classes = classesByName(parts.schema.snapshot).map((record) => ({ record, vector }));
  return { classes: classes.filter(canServe), certainty };
}

/** Of classes without vectors no vector is made. Vectorizers that make none of it leave theirs out, unless all do. */
async function searchedByModules(parts: SearchParts, search: ModuleSearch, context: RequestContext): Promise<Searched> {
  const { schema, modules } = parts;
  const byVectorizer = new Map<string, ClassRecord[]>();
  for (const record of classesByName(schema.snapshot)) {
    const { definition } = record;
    if (definition.vectorizer === "none" || !modules.argumentsOf(definition).has(search.argument)) continue;
    const others = byVectorizer.get(definition.vectorizer);
    if (others === undefined) byVectorizer.set(definition.vectorizer, [record]);
    else others.push(record);
  }
  const classes: SearchedClass[] = [];
  const failures: unknown[] = [];
  // Vectorizers may share an argument, such as nearText.
  const reads = new Map<SearchArgument, ReadSearch>();
  let certainty: number | undefined;
  for (const records of byVectorizer.values()) {
    const definition = records[0]?.definition;
    const argument = definition && modules.argumentsOf(definition).get(search.argument);
    if (definition === undefined || argument === undefined) continue;
    const read = reads.get(argument) ?? (await readSearch(parts, argument, search, context));
    reads.set(argument, read);
    certainty = read.certainty;
    try {
      const vector = await vectorOfSearch(parts, read, definition, false, context);
      classes.push(...records.map((record) => ({ record, vector })));
    } catch (thrown) {
      if (ShoalError.from(thrown).code !== "invalid") throw thrown;
      failures.push(thrown);
    }
  }
  if (failures.length > 0 && classes.length === 0) throw failures[0];
  return { classes: classes.filter(canServe), certainty };
}

function canServe({ record: { definition, dimensions }, vector }: SearchedClass): boolean {
  return !definition.vectorIndexConfig.skip && dimensions === vector.length;
}

/** The page over all shards. What a shard answers is merged when it comes: memory holds one page, not one a shard. */
async function nearestOf(
  router: ShardRouter,
  classes: readonly SearchedClass[],
  page: Page,
  context: RequestContext,
): Promise<readonly ClassHit[]> {
  const count = page.offset + page.limit;
  let best: readonly ClassHit[] = [];
  const vectors = new Map(classes.map(({ record, vector }) => [record.classId, vector]));
  const shards = classes.flatMap(({ record }) => router.shardsOf(record));
  await scatter(shards, context, async (shard, inner) => {
    const { classId, className } = shard;
    const vector = vectors.get(classId) ?? new Float32Array(0);
    try {
      const hits = await router.node(shard).searchByVector(shard, { vector, count, fields: undefined }, inner);
      const named = hits.map(({ id, distance, object }) => ({ id, distance, object, className }));
      best = mergeSorted([best, named], nearestFirstByClass, 0, count);
    } catch (thrown) {
      throw withPrefix(shardPrefix(shard), thrown);
    }
  });
  return best.slice(page.offset);
}

function nearestFirstByClass(a: ClassHit, b: ClassHit): number {
  return nearestFirst(a, b) || (a.className < b.className ? -1 : a.className > b.className ? 1 : 0);
}
