import type {
  DataObject,
  MeasuredRecall,
  ObjectId,
  ObjectListing,
  ObjectMerge,
  PutMode,
  PutTimes,
  RowFields,
  ShardAggregate,
  ShardAggregation,
  ShardFilter,
  ShoalError,
  StoredObject,
  VectorSearch,
  VectorSearchHit,
} from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";

/** One shard of one class. `className` serves messages; `classId` and `shardName` name the data. */
export interface ShardAddress {
  readonly classId: string;
  readonly className: string;
  readonly shardName: string;
  /** Who may write it, as the coordinator has counted; 1 when absent. A node refuses a lower one than it has seen. */
  readonly epoch?: number;
}

export interface ShardStatus {
  readonly address: ShardAddress;
  readonly objectCount: number;
  readonly status: "ready" | "readOnly" | "failed";
  /** Why it is not ready. */
  readonly reason: string | undefined;
}

/** What the vector index of a shard has measured of its searches. */
export interface ShardRecall {
  readonly address: ShardAddress;
  readonly recall: MeasuredRecall;
}

/** What an open shard takes. */
export interface ShardSize {
  readonly address: ShardAddress;
  /** On disk: the tables and the log of its rows, and the snapshot of its vector index. */
  readonly diskBytes: number;
  /** What its vector index takes in memory. */
  readonly vectorMemoryBytes: number;
}

/** One of a shard's copies, as its node knows it. */
export interface CopyReport {
  readonly address: ShardAddress;
  /** Of the copy: `node/id`. */
  readonly name: string;
  /** `DAMAGED`: its store cannot be opened, has failed for good, or has lost rows; the status of the shard says why. */
  readonly state: "IN_SYNC" | "CATCHING_UP" | "DAMAGED";
  readonly isPrimary: boolean;
  /** The last change that it has, counted for the shard. */
  readonly end: number;
}

/** Which of some ids the shards of a node have. */
export interface FoundObjects {
  /** For each id the shards that have it. */
  readonly holders: readonly (readonly ShardAddress[])[];
  /** Shards of the node that could not be asked, and why: an id that belongs to them may be there all the same. */
  readonly unasked: readonly { readonly shard: ShardAddress; readonly error: ShoalError }[];
}

/**
 * A storage node, as its clients see it, for any of its shards. Writes are durable when they resolve. Every method
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
  /** Outcomes in the order of the merges: the object's times, or why it was not changed. */
  mergeObjects(
    shard: ShardAddress,
    merges: readonly ObjectMerge[],
    context: RequestContext,
  ): Promise<readonly (PutTimes | ShoalError)[]>;
  /** False when it was not there. */
  deleteObject(shard: ShardAddress, id: ObjectId, context: RequestContext): Promise<boolean>;
  /** One result an id, in order. A damaged row fails the call with `dataLoss`. */
  getObjects(
    shard: ShardAddress,
    ids: readonly ObjectId[],
    fields: RowFields,
    context: RequestContext,
  ): Promise<readonly (StoredObject | undefined)[]>;
  /**
   * Looks for ids in all shards that the schema of at least version `schemaVersion` places on the node. Fails with
   * `unavailable` when the node does not know that version yet.
   */
  findObjects(ids: readonly ObjectId[], schemaVersion: number, context: RequestContext): Promise<FoundObjects>;
  /** Nearest first, equal distances by id. Fails with `invalid` on a class that skips vector indexing. */
  searchByVector(
    shard: ShardAddress,
    search: VectorSearch,
    context: RequestContext,
  ): Promise<readonly VectorSearchHit[]>;
  listObjects(shard: ShardAddress, listing: ObjectListing, context: RequestContext): Promise<readonly StoredObject[]>;
  /** Ids of all objects that satisfy the filter, ascending. Fails with `tooLarge` when there are more than `idsMax`. */
  matchingIds(
    shard: ShardAddress,
    filter: ShardFilter,
    idsMax: number,
    context: RequestContext,
  ): Promise<readonly ObjectId[]>;
  /** Fails with `invalid` for a property that is not indexed. */
  aggregate(shard: ShardAddress, aggregation: ShardAggregation, context: RequestContext): Promise<ShardAggregate>;
  shardStatuses(context: RequestContext): Promise<readonly ShardStatus[]>;
  /** Of the shards that have measured one. */
  shardRecalls(context: RequestContext): Promise<readonly ShardRecall[]>;
  /** Of its shards that have copies elsewhere. */
  shardCopies(context: RequestContext): Promise<readonly CopyReport[]>;
  /** Of the shards that are open. */
  shardSizes(context: RequestContext): Promise<readonly ShardSize[]>;
}
