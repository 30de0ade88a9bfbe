import { replanned, type SchemaView } from "@shoal/cluster";
import type { AggregateQuery, ExploreQuery, GetQuery, ObjectId, RowFields } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import { isSearch } from "./near-vector-of.js";
import type { ListQuery, QueryService } from "./query-service.js";

/**
 * Queries of a process that may know an old schema. A read that failed is planned anew, once, when there is a newer one:
 * a class or property that it did not know, a shard of a class that is gone. Before it is told that there is nothing
 * (no such object, no neighbours in a class without vectors), and before all classes are gone through, the schema is
 * asked for, so that what any gateway has answered counts.
 */
export class ReplanningQueries implements QueryService {
  readonly #inner: QueryService;
  readonly #view: SchemaView;
  readonly additional: QueryService["additional"];

  constructor(inner: QueryService, view: SchemaView) {
    this.#inner = inner;
    this.#view = view;
    this.additional = inner.additional.bind(inner);
  }

  get(query: GetQuery, context: RequestContext) {
    const work = () => this.#replanned(context, () => this.#inner.get(query, context));
    const hasVectors = !isSearch(query) || this.#view.classRecord(query.className)?.dimensions !== undefined;
    return hasVectors ? work() : this.#view.refresh(context).then(work);
  }

  async explore(query: ExploreQuery, context: RequestContext) {
    await this.#view.refresh(context);
    return this.#replanned(context, () => this.#inner.explore(query, context));
  }

  aggregate(query: AggregateQuery, context: RequestContext) {
    return this.#replanned(context, () => this.#inner.aggregate(query, context));
  }

  async objectById(id: ObjectId, fields: RowFields, context: RequestContext) {
    const planned = this.#view.snapshot;
    const work = () => this.#inner.objectById(id, fields, context);
    const found = await this.#replanned(context, work);
    if (found !== undefined) return found;
    await this.#view.refresh(context);
    return this.#view.snapshot === planned ? undefined : work();
  }

  async list(query: ListQuery, context: RequestContext) {
    if (query.className === undefined) await this.#view.refresh(context);
    return this.#replanned(context, () => this.#inner.list(query, context));
  }

  /** Reads may be done twice, whatever they failed with. */
  #replanned<T>(context: RequestContext, work: () => Promise<T>): Promise<T> {
    return replanned(this.#view, context, work, () => true);
  }
}
