import type { SchemaView, ShardRouter } from "@shoal/cluster";
import {
  type AggregateGroup,
  type AggregateQuery,
  type ExploreQuery,
  type GetQuery,
  type ObjectId,
  type RowFields,
  type ShardFilter,
  ShoalError,
  type StoredObject,
  type WhereFilter,
  withPrefix,
} from "@shoal/model";
import type { ClassRecord, RequestContext } from "@shoal/rpc";
import { findObject } from "./find-object.js";
import { collectPage, listObjects } from "./list-objects.js";
import { nearSearch } from "./near-search.js";
import { nearVectorOf } from "./near-vector-of.js";
import { type Page, type PageLimits, pageOfGet } from "./pagination.js";
import { type FilterParts, planFilter } from "./plan-filter.js";
import { prefixed } from "./prefixed.js";
import type { ExploreRow, GetRow, ListQuery, QueryService } from "./query-service.js";

export interface QueryEngineOptions {
  readonly schema: SchemaView;
  readonly router: ShardRouter;
  readonly limits: PageLimits;
  /** See {@link FilterParts}; a million when absent. */
  readonly filterIdsMax?: number;
}

const FILTER_IDS_MAX = 1_000_000;

/** Plans reads, scatters them over the shards and merges the answers. */
export class QueryEngine implements QueryService {
  readonly #schema: SchemaView;
  readonly #router: ShardRouter;
  readonly #limits: PageLimits;
  readonly #filters: FilterParts;

  constructor({ schema, router, limits, filterIdsMax = FILTER_IDS_MAX }: QueryEngineOptions) {
    this.#schema = schema;
    this.#router = router;
    this.#limits = limits;
    this.#filters = { schema, router, filterIdsMax };
  }

  async get(query: GetQuery, context: RequestContext): Promise<readonly GetRow[]> {
    const isNear = query.nearVector !== undefined || query.nearObject !== undefined;
    const record = this.#classOf(query.className);
    const page = this.#page(query, isNear);
    if (!isNear) return this.#list(record, query, page, context);
    const near = await nearVectorOf(this.#router, this.#schema.snapshot, query, context);
    const filter = query.where && (await this.#filter(query.where, "explorer: get class: vector search: ", context));
    return nearSearch(this.#router, record, { ...near, filter, fields: query.fields }, page, context);
  }

  async explore(_query: ExploreQuery, _context: RequestContext): Promise<readonly ExploreRow[]> {
    throw new ShoalError("invalid", "Explore is not answered yet");
  }

  async aggregate(_query: AggregateQuery, _context: RequestContext): Promise<readonly AggregateGroup[]> {
    throw new ShoalError("invalid", "Aggregate is not answered yet");
  }

  async objectById(id: ObjectId, fields: RowFields, context: RequestContext): Promise<StoredObject | undefined> {
    return (await findObject(this.#router, this.#schema.snapshot, id, fields, context))?.object;
  }

  list(query: ListQuery, context: RequestContext): Promise<readonly StoredObject[]> {
    return prefixed("list objects: ", () =>
      listObjects(this.#router, this.#schema.snapshot, this.#limits, query, context),
    );
  }

  #classOf(className: string): ClassRecord {
    const record = this.#schema.classRecord(className);
    if (record === undefined) {
      throw new ShoalError("invalid", `search: tried to browse non-existing index for ${className}`);
    }
    return record;
  }

  #page(query: GetQuery, isNear: boolean): Page {
    try {
      return pageOfGet(query.limit, query.offset, this.#limits);
    } catch (thrown) {
      const stage = isNear ? "explorer: get class: vector search: " : "explorer: list class: search: ";
      throw withPrefix(`${stage}invalid pagination params: `, thrown);
    }
  }

  async #list(
    record: ClassRecord,
    { where, fields }: GetQuery,
    page: Page,
    context: RequestContext,
  ): Promise<readonly GetRow[]> {
    const stage = "explorer: list class: search: ";
    const filter = where && (await this.#filter(where, stage, context));
    const listing = { order: "id", after: undefined, filter, fields } as const;
    const objects = await prefixed(stage, () => collectPage(this.#router, [record], listing, page, context));
    return objects.map((object) => ({ id: object.id, object, certainty: undefined }));
  }

  #filter(where: WhereFilter, stage: string, context: RequestContext): ShardFilter | Promise<ShardFilter> {
    return prefixed(stage, async () => planFilter(this.#filters, where, context));
  }
}
