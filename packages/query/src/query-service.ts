import type { GetQuery, ObjectId, RowFields, StoredObject } from "@shoal/model";
import type { RequestContext } from "@shoal/rpc";

/** One row of a `Get`. */
export interface GetRow {
  /** Present when the query's fields ask for anything that only the stored row knows. */
  readonly object: StoredObject | undefined;
  readonly id: ObjectId;
  /** `1 - distance / 2` in float32; undefined without near*; NaN becomes null at the edge. */
  readonly certainty: number | undefined;
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

/** The asking side of reads. */
export interface QueryService {
  /** Errors carry the reference's prefixes, so that an edge passes messages on as they are. */
  get(query: GetQuery, context: RequestContext): Promise<readonly GetRow[]>;
  /** The object of that id in the first class by name that has it. */
  objectById(id: ObjectId, fields: RowFields, context: RequestContext): Promise<StoredObject | undefined>;
  /** Order and paging of `GET /v1/objects` (decisions.md). */
  list(query: ListQuery, context: RequestContext): Promise<readonly StoredObject[]>;
}
