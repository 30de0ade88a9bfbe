import { replanned, type SchemaView, schemaSeenBy } from "@shoal/cluster";
import {
  type AdditionalRequest,
  type AggregateQuery,
  type ExploreQuery,
  type GetQuery,
  type ObjectId,
  type RowFields,
  type StoredObject,
  unknownClass,
  withPrefix,
} from "@shoal/model";
import { type AdditionalSearch, NO_ENABLED_MODULES } from "@shoal/module-api";
import type { ClassRecord } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { additionalValues, fieldsWith } from "./additional-values.js";
import { type AggregateParts, aggregateClass, ResultQueue } from "./aggregate/aggregate-class.js";
import { explore } from "./explore.js";
import { findObject } from "./find-object.js";
import { groupRows } from "./group-rows.js";
import { collectPage, type ListParts, listObjects } from "./list-objects.js";
import { nearSearch } from "./near-search.js";
import { isSearch, type SearchParts, searchOf } from "./near-vector-of.js";
import { pageOfGet } from "./pagination.js";
import { planFilter } from "./plan-filter.js";
import type { GetRow, ListQuery, QueryService } from "./query-service.js";
import { type ReferenceParts, resolveReferences } from "./resolve-references.js";

/** What reads work with; the schema is as whoever asks sees it. */
interface QueryParts extends AggregateParts, ListParts, ReferenceParts, SearchParts {
  readonly schema: SchemaView;
  /** See {@link groupRows}. */
  readonly groupComparisonsMax: number;
}

const DEFAULTS = {
  modules: NO_ENABLED_MODULES,
  filterIdsMax: 1_000_000,
  referencedRowsMax: 100_000,
  groupComparisonsMax: 10_000_000,
  aggregateBytesMax: 64 * 1024 * 1024,
};

export type QueryEngineOptions = Omit<QueryParts, keyof typeof DEFAULTS> &
  Partial<Pick<QueryParts, keyof typeof DEFAULTS>>;

const NO_SEARCH: AdditionalSearch = { vector: undefined, argument: undefined };

/**
 * Plans reads, scatters them over the shards and merges the results. Classes that whoever asks may not read are as if they were
 * not there.
 *
 * A process may know an old schema. A read that failed is planned again, once, when there is a newer one:
 * a class or property that it did not know, a shard of a class that is gone. Before it answers that there is nothing
 * (no such object, no neighbours in a class without vectors), and before all classes are gone through, the schema is
 * asked for, so that what any gateway has answered counts.
 */
export class QueryEngine implements QueryService {
  readonly #whole: QueryParts;
  readonly #aggregations = new ResultQueue();

  constructor(options: QueryEngineOptions) {
    this.#whole = { ...DEFAULTS, ...options };
  }

  get(query: GetQuery, context: RequestContext) {
    const { schema } = this.#whole;
    const isNear = isSearch(query);
    const { group, references = [], additional = [] } = query;
    const isPlain = group === undefined && references.length === 0 && additional.length === 0;
    const work = () =>
      this.#replanned(context, (parts) =>
        isPlain ? pageRows(parts, query, query.fields, isNear, context) : completedRows(parts, query, isNear, context),
      );
    const hasVectors = !isNear || schema.classRecord(query.className)?.dimensions !== undefined;
    return hasVectors ? work() : schema.refresh(context).then(work);
  }

  async explore(query: ExploreQuery, context: RequestContext) {
    await this.#whole.schema.refresh(context);
    return this.#replanned(context, (parts) => explore(parts, query, context));
  }

  aggregate(query: AggregateQuery, context: RequestContext) {
    return this.#replanned(context, (parts) => {
      const record = classOf(parts, query.className);
      return this.#aggregations.run(context, () => aggregateClass(parts, record, query, context));
    });
  }

  async objectById(id: ObjectId, fields: RowFields, context: RequestContext) {
    const { schema } = this.#whole;
    const planned = schema.snapshot;
    const work = () =>
      this.#replanned(context, (parts) => findObject(parts.router, parts.schema.snapshot, id, fields, context));
    let found = await work();
    if (found === undefined) {
      await schema.refresh(context);
      if (schema.snapshot !== planned) found = await work();
    }
    return found?.object;
  }

  async list(query: ListQuery, context: RequestContext) {
    if (query.className === undefined) await this.#whole.schema.refresh(context);
    return this.#replanned(context, (parts) => listObjects(parts, query, context));
  }

  additional(
    objects: readonly StoredObject[],
    requests: readonly AdditionalRequest[],
    place: "restObject" | "restList",
    context: RequestContext,
  ) {
    const parts = this.#partsFor(context);
    const rows = objects.map((object) => ({ definition: classOf(parts, object.className).definition, object }));
    return additionalValues(parts.modules, rows, requests, place, NO_SEARCH, context);
  }

  #partsFor(context: RequestContext): QueryParts {
    if (context.rights === undefined) return this.#whole;
    return { ...this.#whole, schema: schemaSeenBy(this.#whole.schema, context, "mayRead") };
  }

  /** Reads may be done twice, whatever they failed with. */
  #replanned<T>(context: RequestContext, work: (parts: QueryParts) => Promise<T>): Promise<T> {
    return replanned(
      this.#whole.schema,
      context,
      () => work(this.#partsFor(context)),
      () => true,
    );
  }
}

function classOf({ schema }: QueryParts, className: string): ClassRecord {
  const record = schema.classRecord(className);
  if (record !== undefined) return record;
  throw unknownClass(
    className,
    schema.snapshot.classes.map(({ definition }) => definition),
  );
}

/** The page of a `Get`, with these fields; `onSearch` gets what is searched for. */
async function pageRows(
  parts: QueryParts,
  query: GetQuery,
  fields: RowFields,
  isNear: boolean,
  context: RequestContext,
  onSearch?: (search: AdditionalSearch) => void,
): Promise<readonly GetRow[]> {
  const { router, limits } = parts;
  const record = classOf(parts, query.className);
  const page = pageOfGet(query.limit, query.offset, limits);
  const near = isNear ? await searchOf(parts, query, record.definition, context) : undefined;
  if (near !== undefined) onSearch?.(near);
  const filter = query.where && (await planFilter(parts, query.where, context));
  if (near !== undefined) {
    const search = { vector: near.vector, certainty: near.certainty, filter, fields };
    return nearSearch(router, record, search, page, context);
  }
  const listing = { order: "id", after: undefined, filter, fields } as const;
  const objects = await collectPage(router, [record], listing, page, context);
  return objects.map((object) => ({ id: object.id, object, certainty: undefined }));
}

/**
 * Rows with what modules add to them and with what they refer to. References are resolved last: a merged row refers to
 * what any of its members refers to.
 */
async function completedRows(
  parts: QueryParts,
  query: GetQuery,
  isNear: boolean,
  context: RequestContext,
): Promise<readonly GetRow[]> {
  const { group, references = [], additional = [] } = query;
  const { definition } = classOf(parts, query.className);
  const fields = fieldsWith(query.fields, parts.modules, definition, additional);
  const wanted = { ...fields, properties: fields.properties || references.length > 0 };
  const read = { ...wanted, vector: fields.vector || group !== undefined };
  let search = NO_SEARCH;
  let rows = await pageRows(parts, query, read, isNear, context, (one) => {
    search = one;
  });
  if (group !== undefined) {
    rows = await groupRows(rows, group, definition, wanted, parts.groupComparisonsMax, context);
  }
  if (additional.length > 0) {
    const whole = withObjects(rows);
    const described = whole.map(({ object }) => ({ object, definition }));
    const place = isNear ? "search" : "list";
    const values = await additionalValues(parts.modules, described, additional, place, search, context);
    rows = whole.map((row, at) => ({ ...row, additional: values[at] ?? [] }));
  }
  if (references.length === 0) return rows;
  const whole = withObjects(rows);
  const objects = whole.map(({ object }) => object);
  const resolved = await resolveReferences(parts, objects, references, context).catch((thrown: unknown) => {
    throw withPrefix("following references: ", thrown);
  });
  return whole.map((row, at) => ({ ...row, references: resolved[at] ?? new Map() }));
}

function withObjects(rows: readonly GetRow[]) {
  return rows.flatMap((row) => (row.object === undefined ? [] : { ...row, object: row.object }));
}
