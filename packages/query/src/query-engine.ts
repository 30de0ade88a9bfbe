import { type SchemaView, type ShardRouter, schemaSeenBy } from "@shoal/cluster";
import {
  type AdditionalRequest,
  type AggregateGroup,
  type AggregateQuery,
  type ExploreQuery,
  type GetQuery,
  type Json,
  type ObjectId,
  type RowFields,
  ShoalError,
  type StoredObject,
  unknownClass,
  type WhereFilter,
} from "@shoal/model";
import { type AdditionalSearch, type EnabledModules, NO_ENABLED_MODULES } from "@shoal/module-api";
import type { ClassRecord } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { additionalValues, fieldsWith } from "./additional-values.js";
import { type AggregateParts, aggregateClass } from "./aggregate/aggregate-class.js";
import { AnswerQueue } from "./aggregate/answer-queue.js";
import { explore } from "./explore.js";
import { findObject } from "./find-object.js";
import { groupRows } from "./group-rows.js";
import { collectPage, listObjects } from "./list-objects.js";
import { readSearch, vectorOfSearch } from "./module-search.js";
import { nearSearch } from "./near-search.js";
import { checkOneSearch, isSearch, nearVectorOf } from "./near-vector-of.js";
import { type Page, type PageLimits, pageOfGet } from "./pagination.js";
import { type FilterParts, planFilter } from "./plan-filter.js";
import { prefixed } from "./prefixed.js";
import type { ExploreRow, GetRow, ListQuery, QueryService } from "./query-service.js";
import { type ReferenceParts, resolveReferences } from "./resolve-references.js";

export interface QueryEngineOptions {
  readonly schema: SchemaView;
  readonly router: ShardRouter;
  readonly limits: PageLimits;
  /** None when absent. */
  readonly modules?: EnabledModules;
  /** See {@link FilterParts}; a million when absent. */
  readonly filterIdsMax?: number;
  /** See {@link ReferenceParts}; 100,000 when absent. */
  readonly referencedRowsMax?: number;
  /** See {@link groupRows}; ten million when absent. */
  readonly groupComparisonsMax?: number;
  /** See {@link AggregateParts}; 64 MiB when absent. */
  readonly aggregateBytesMax?: number;
}

const FILTER_IDS_MAX = 1_000_000;
const REFERENCED_ROWS_MAX = 100_000;
const GROUP_COMPARISONS_MAX = 10_000_000;
const AGGREGATE_BYTES_MAX = 64 * 1024 * 1024;

const NO_SEARCH: AdditionalSearch = { vector: undefined, argument: undefined };

/** What parts of a read see of the schema. */
interface SeenParts {
  readonly schema: SchemaView;
  readonly filters: FilterParts;
  readonly references: ReferenceParts;
  readonly aggregates: AggregateParts;
}

/**
 * Plans reads, scatters them over the shards and merges the answers. Classes that whoever asks may not read are as if they were
 * not there.
 */
export class QueryEngine implements QueryService {
  readonly #router: ShardRouter;
  readonly #limits: PageLimits;
  readonly #modules: EnabledModules;
  readonly #bounds: Omit<Required<QueryEngineOptions>, "schema" | "router" | "limits" | "modules">;
  readonly #whole: SeenParts;
  readonly #aggregations = new AnswerQueue();

  constructor(options: QueryEngineOptions) {
    const { schema, router, limits } = options;
    const { filterIdsMax = FILTER_IDS_MAX, referencedRowsMax = REFERENCED_ROWS_MAX } = options;
    const { aggregateBytesMax = AGGREGATE_BYTES_MAX, groupComparisonsMax = GROUP_COMPARISONS_MAX } = options;
    this.#router = router;
    this.#limits = limits;
    this.#modules = options.modules ?? NO_ENABLED_MODULES;
    this.#bounds = { filterIdsMax, referencedRowsMax, groupComparisonsMax, aggregateBytesMax };
    this.#whole = this.#partsOver(schema);
  }

  get(query: GetQuery, context: RequestContext): Promise<readonly GetRow[]> {
    const isNear = isSearch(query);
    const { group, references = [], additional = [] } = query;
    if (group === undefined && references.length === 0 && additional.length === 0) {
      return this.#rows(query, query.fields, isNear, context);
    }
    return this.#completed(query, isNear, context);
  }

  explore(query: ExploreQuery, context: RequestContext): Promise<readonly ExploreRow[]> {
    const parts = { router: this.#router, schema: this.#seenBy(context).schema.snapshot, modules: this.#modules };
    return explore(parts, this.#limits, query, context);
  }

  async aggregate(query: AggregateQuery, context: RequestContext): Promise<readonly AggregateGroup[]> {
    const record = this.#classOf(query.className, context);
    const { aggregates } = this.#seenBy(context);
    return this.#aggregations.run(context, () => aggregateClass(aggregates, record, query, context));
  }

  async objectById(id: ObjectId, fields: RowFields, context: RequestContext): Promise<StoredObject | undefined> {
    return (await findObject(this.#router, this.#seenBy(context).schema.snapshot, id, fields, context))?.object;
  }

  list(query: ListQuery, context: RequestContext): Promise<readonly StoredObject[]> {
    return listObjects(this.#router, this.#seenBy(context).schema.snapshot, this.#limits, query, context);
  }

  additional(
    objects: readonly StoredObject[],
    requests: readonly AdditionalRequest[],
    place: "restObject" | "restList",
    context: RequestContext,
  ): Promise<readonly (readonly Json[])[]> {
    const rows = objects.map((object) => ({ definition: this.#classOf(object.className, context).definition, object }));
    return additionalValues(this.#modules, rows, requests, place, NO_SEARCH, context);
  }

  #seenBy(context: RequestContext): SeenParts {
    if (context.rights === undefined) return this.#whole;
    return this.#partsOver(schemaSeenBy(this.#whole.schema, context, "mayRead"));
  }

  #partsOver(schema: SchemaView): SeenParts {
    const { filterIdsMax, referencedRowsMax, aggregateBytesMax } = this.#bounds;
    const router = this.#router;
    const filters = { schema, router, filterIdsMax };
    const references = { schema, router, referencedRowsMax };
    return { schema, filters, references, aggregates: { router, filters, aggregateBytesMax } };
  }

  #classOf(className: string, context: RequestContext): ClassRecord {
    const { schema } = this.#seenBy(context);
    const record = schema.classRecord(className);
    if (record !== undefined) return record;
    throw unknownClass(
      className,
      schema.snapshot.classes.map(({ definition }) => definition),
    );
  }

  /** The page itself, with these fields; `onSearch` is told what is searched for. */
  async #rows(
    query: GetQuery,
    fields: RowFields,
    isNear: boolean,
    context: RequestContext,
    onSearch?: (search: AdditionalSearch) => void,
  ): Promise<readonly GetRow[]> {
    const record = this.#classOf(query.className, context);
    const page = pageOfGet(query.limit, query.offset, this.#limits);
    if (!isNear) return this.#list(record, query.where, fields, page, context);
    checkOneSearch(query);
    const near =
      query.moduleSearches?.[0] === undefined
        ? {
            ...(await nearVectorOf(this.#router, this.#seenBy(context).schema.snapshot, query, context)),
            argument: undefined,
          }
        : await this.#moduleSearch(query, record, context);
    onSearch?.({ vector: near.vector, argument: near.argument });
    const filter = query.where && (await planFilter(this.#seenBy(context).filters, query.where, context));
    return nearSearch(this.#router, record, { ...near, filter, fields }, page, context);
  }

  async #moduleSearch(query: GetQuery, { definition }: ClassRecord, context: RequestContext) {
    const [search] = query.moduleSearches ?? [];
    const argument = search && this.#modules.argumentsOf(definition).get(search.argument);
    if (search === undefined || argument === undefined) {
      throw new ShoalError("internal", `class '${definition.class}' has no search argument '${search?.argument}'`);
    }
    const parts = { router: this.#router, schema: this.#seenBy(context).schema.snapshot, modules: this.#modules };
    const read = await readSearch(parts, argument, search, context);
    const vector = await vectorOfSearch(parts, read, definition, true, context);
    return { vector, certainty: read.certainty, argument: read.given };
  }

  /**
   * Rows with what modules add to them and with what they refer to. References are resolved last: a merged row refers to
   * what any of its members refers to.
   */
  async #completed(query: GetQuery, isNear: boolean, context: RequestContext): Promise<readonly GetRow[]> {
    const { group, references = [], additional = [] } = query;
    const fields = fieldsWith(
      query.fields,
      this.#modules,
      this.#classOf(query.className, context).definition,
      additional,
    );
    const wanted = { ...fields, properties: fields.properties || references.length > 0 };
    let search = NO_SEARCH;
    const onSearch = (one: AdditionalSearch) => {
      search = one;
    };
    const read = { ...wanted, vector: fields.vector || group !== undefined };
    let rows = await this.#rows(query, read, isNear, context, onSearch);
    if (group !== undefined) {
      const { definition } = this.#classOf(query.className, context);
      const page = rows;
      rows = await groupRows(page, group, definition, wanted, this.#bounds.groupComparisonsMax, context);
    }
    if (additional.length > 0) rows = await this.#withAdditional(query, rows, search, isNear, context);
    if (references.length === 0) return rows;
    const whole = rows.flatMap((row) => (row.object === undefined ? [] : { ...row, object: row.object }));
    const objects = whole.map(({ object }) => object);
    const resolved = await prefixed("following references: ", () =>
      resolveReferences(this.#seenBy(context).references, objects, references, context),
    );
    return whole.map((row, at) => ({ ...row, references: resolved[at] ?? new Map() }));
  }

  async #withAdditional(
    { className, additional = [] }: GetQuery,
    rows: readonly GetRow[],
    search: AdditionalSearch,
    isNear: boolean,
    context: RequestContext,
  ): Promise<readonly GetRow[]> {
    const { definition } = this.#classOf(className, context);
    const whole = rows.flatMap((row) => (row.object === undefined ? [] : { ...row, object: row.object, definition }));
    const place = isNear ? "search" : "list";
    const values = await additionalValues(this.#modules, whole, additional, place, search, context);
    return whole.map(({ definition: _, ...row }, at) => ({ ...row, additional: values[at] ?? [] }));
  }

  async #list(
    record: ClassRecord,
    where: WhereFilter | undefined,
    fields: RowFields,
    page: Page,
    context: RequestContext,
  ): Promise<readonly GetRow[]> {
    const filter = where && (await planFilter(this.#seenBy(context).filters, where, context));
    const listing = { order: "id", after: undefined, filter, fields } as const;
    const objects = await collectPage(this.#router, [record], listing, page, context);
    return objects.map((object) => ({ id: object.id, object, certainty: undefined }));
  }
}
