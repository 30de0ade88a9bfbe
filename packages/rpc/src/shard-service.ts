import type {
  DataObject,
  JsonObject,
  ObjectId,
  Properties,
  RowFields,
  ShoalError,
  StoredObject,
  VectorHit,
} from "@shoal/model";
import type { RequestContext } from "./request-context.js";

/** One shard of one class. `className` serves messages; `classId` and `shardName` name the data. */
export interface ShardAddress {
  readonly classId: string;
  readonly className: string;
  readonly shardName: string;
}

/**
 * How a put treats an object that exists or not.
 * - `create`: fails with `invalid` (`id '…' already exists`) when the id is taken.
 * - `replace`: fails with `notFound` when it is not there; the creation time survives.
 * - `upsert`: either; the creation time is new (batch import replaces an object completely).
 */
export type PutMode = "create" | "replace" | "upsert";

export interface PutTimes {
  readonly creationTimeUnix: number;
  readonly lastUpdateTimeUnix: number;
}

/** A change of parts of an object. What is not named stays. */
export interface ObjectMerge {
  readonly id: ObjectId;
  /** Properties whose values are replaced. */
  readonly set: Properties;
  /** Properties that are removed. */
  readonly clear: readonly string[];
  /** Reference lists that are appended to. */
  readonly append: Readonly<Record<string, readonly JsonObject[]>>;
  readonly vector: Float32Array | undefined;
}

export interface VectorSearch {
  /** Not normalised; its length is that of the class. */
  readonly vector: Float32Array;
  /** Nearest so many (offset plus limit of the query). */
  readonly count: number;
  /** Rows of the hits in the same answer; undefined: ids and distances only. */
  readonly fields: RowFields | undefined;
}

export interface VectorSearchHit extends VectorHit {
  /** When rows were asked for. */
  readonly object: StoredObject | undefined;
}

/** A page of a shard's objects. `newest`: creation time descending, then id ascending; `id`: raw uuid ascending. */
export interface ObjectListing {
  readonly order: "newest" | "id";
  /** With order `id`: ids above this one only. */
  readonly after: ObjectId | undefined;
  readonly limit: number;
  /** Objects at the front that are passed over without being read; 0 when absent. */
  readonly skip?: number;
  readonly fields: RowFields;
}

export interface ShardStatus {
  readonly address: ShardAddress;
  readonly objectCount: number;
  readonly status: "ready" | "readOnly" | "failed";
  /** Why it is not ready. */
  readonly reason: string | undefined;
}

/**
 * A storage node, as the asking side sees it, for any of its shards. Writes are durable when they resolve. Every method
 * fails with `unavailable` when the node or the shard cannot be reached, naming both.
 */
export interface ShardService {
  /** Outcomes in the order of the objects. Of objects with the same id the last one stays. */
  putObjects(
    shard: ShardAddress,
    objects: readonly DataObject[],
    mode: PutMode,
    context: RequestContext,
  ): Promise<readonly (PutTimes | ShoalError)[]>;
  /** The object after the merge. Fails with `notFound`. */
  mergeObject(shard: ShardAddress, merge: ObjectMerge, context: RequestContext): Promise<StoredObject>;
  /** False when it was not there. */
  deleteObject(shard: ShardAddress, id: ObjectId, context: RequestContext): Promise<boolean>;
  /** One result an id, in order. A damaged row fails the call with `dataLoss`. */
  getObjects(
    shard: ShardAddress,
    ids: readonly ObjectId[],
    fields: RowFields,
    context: RequestContext,
  ): Promise<readonly (StoredObject | undefined)[]>;
  /** For each question whether the shard has the id: one request for all shards of the node. */
  hasObjects(
    questions: readonly { readonly shard: ShardAddress; readonly id: ObjectId }[],
    context: RequestContext,
  ): Promise<readonly boolean[]>;
  /** Nearest first, equal distances by id. Fails with `invalid` on a class that skips vector indexing. */
  searchByVector(
    shard: ShardAddress,
    search: VectorSearch,
    context: RequestContext,
  ): Promise<readonly VectorSearchHit[]>;
  listObjects(shard: ShardAddress, listing: ObjectListing, context: RequestContext): Promise<readonly StoredObject[]>;
  shardStatuses(context: RequestContext): Promise<readonly ShardStatus[]>;
}
