import type {
  AdditionalRequest,
  AggregateGroup,
  AggregateQuery,
  ExploreQuery,
  GetQuery,
  Json,
  ObjectId,
  RowFields,
  StoredObject,
} from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";

/** The target of a reference, with what was wanted of its class. */
export interface ReferencedRow {
  readonly id: ObjectId;
  readonly object: StoredObject;
  /** By property; a property without a living target of a wanted class is not in it. */
  readonly references: ReadonlyMap<string, readonly ReferencedRow[]>;
}

/** One row of a `Get`. */
export interface GetRow {
  /** Present when the query's fields ask for anything that only the stored row knows. */
  readonly object: StoredObject | undefined;
  /** Empty when the row was made of several by `group` with `merge`. */
  readonly id: ObjectId;
  /** `1 - distance / 2` in float32; undefined without near*; NaN becomes null at the edge. */
  readonly certainty: number | undefined;
  /** By property, when the query selects references; a property without a living target of a wanted class is not in it. */
  readonly references?: ReadonlyMap<string, readonly ReferencedRow[]>;
  /** In the order of the query's requests, when it has any. */
  readonly additional?: readonly Json[];
}

/** One row of an `Explore`. */
export interface ExploreRow {
  readonly id: ObjectId;
  readonly className: string;
  /** `1 - distance / 2` in float32; NaN becomes null at the edge. */
  readonly certainty: number;
}

export interface ListQuery {
  /** Undefined: all classes. */
  readonly className: string | undefined;
  /** By ascending id, behind this one, or from the very first when it is empty. Undefined: newest first. */
  readonly after: ObjectId | "" | undefined;
  readonly limit: number | undefined;
  readonly offset: number | undefined;
  readonly fields: RowFields;
}

/** Reads across shards. */
export interface QueryService {
  /** Errors carry the reference's prefixes, so that an edge passes messages on as they are. */
  get(query: GetQuery, context: RequestContext): Promise<readonly GetRow[]>;
  explore(query: ExploreQuery, context: RequestContext): Promise<readonly ExploreRow[]>;
  /** One group without `groupBy`; else the largest ones, equally large ones by `groupedBy`. Exact over all shards. */
  aggregate(query: AggregateQuery, context: RequestContext): Promise<readonly AggregateGroup[]>;
  /** The object of that id in the first class by name that has it. */
  objectById(id: ObjectId, fields: RowFields, context: RequestContext): Promise<StoredObject | undefined>;
  /** Order and paging of `GET /v1/objects` (decisions.md). */
  list(query: ListQuery, context: RequestContext): Promise<readonly StoredObject[]>;
  /**
   * For each object what modules add to it, in the order of the requests: as `GET /v1/objects/{id}` shows it
   * (`restObject`), or the list of objects. The objects were read with all fields.
   */
  additional(
    objects: readonly StoredObject[],
    requests: readonly AdditionalRequest[],
    place: "restObject" | "restList",
    context: RequestContext,
  ): Promise<readonly (readonly Json[])[]>;
}
