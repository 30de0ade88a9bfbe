import type {
  DataObject,
  ObjectId,
  ObjectListing,
  ObjectMerge,
  PropertyDefinition,
  PutMode,
  PutTimes,
  RowFields,
  ShardAggregate,
  ShardAggregation,
  ShardFilter,
  ShoalError,
  StoredObject,
  VectorIndexConfig,
  VectorSearch,
  VectorSearchHit,
} from "@shoal/model";
import type { WorkBounds } from "@shoal/runtime";
import type { VectorIndexStatistics } from "@shoal/vector-index";
import type { CopyStore } from "./copy-store.js";
import type { IdPresenceFilter } from "./id-presence-filter.js";

export interface ShardCondition {
  readonly objectCount: number;
  /**
   * `readOnly`: the last commit failed, and each further write tries the store again; or the memory budget is used up, and
   * only deletions are taken. `failed`: the views no longer follow the journal; writes are refused until the shard is opened
   * again.
   */
  readonly status: "ready" | "readOnly" | "failed";
  /** Why it is not ready; while it is, which objects are lost to damage. */
  readonly reason: string | undefined;
}

/** Settings of the class that may change. */
export interface ShardSettings {
  readonly vectorIndexConfig: VectorIndexConfig;
  /** New ones may come, none goes. */
  readonly properties: readonly PropertyDefinition[];
}

export interface ShardStatistics {
  /** Sequence of the last change that is visible. */
  readonly sequence: number;
  /** Changes that the older one of the two snapshots does not have. */
  readonly unsnapshotChanges: number;
  readonly pendingObjects: number;
  readonly idTableBytes: number;
  readonly rowCacheBytes: number;
  /** What the inverted index keeps in memory. */
  readonly invertedIndexBytes: number;
  /** Undefined while there is no index. */
  readonly vectors: VectorIndexStatistics | undefined;
}

/**
 * Reads see every write that has resolved, and none that has not reached the disk. A damaged row fails the call that
 * meets it with `dataLoss`, naming class, shard and object; it is never answered as missing. While objects are lost,
 * searches and lists of the newest fail so too, because any of them might belong to the result; when not even the ids of
 * the lost ones are known, lists by id as well. That ends when all of them are written again. The same goes for whatever
 * has a filter, and for aggregations; they fail with `unavailable` while the inverted index is being built, and with
 * `invalid` for a property that is not indexed.
 */
export interface ShardReader {
  readonly className: string;
  readonly shardName: string;
  readonly objectCount: number;
  /** Length of the class's vectors, undefined while the shard has seen none. */
  readonly dimensions: number | undefined;
  /** Where its ids are counted. */
  readonly idPresenceFilter: IdPresenceFilter | undefined;
  /**
   * Answered from memory, but for ids that it lacks while objects are lost together with their ids: then also true for
   * one that may be among them; reading it fails with `dataLoss`.
   */
  hasObject(id: ObjectId): boolean | Promise<boolean>;
  /**
   * One result an id, in order. Calls of one iteration of the event loop share one read of the store. As all reads of rows, it takes steps that
   * are bounded in bytes, and fails with the reason of its signal or the error of its `rowBytes` between them. On a shard with copies it
   * waits where it meets a row whose commit is not acknowledged yet; other reads may see it.
   */
  getObjects(
    ids: readonly ObjectId[],
    fields: RowFields,
    bounds?: WorkBounds,
  ): Promise<readonly (StoredObject | undefined)[]>;
  /**
   * Nearest first, equal distances by id, NaN (a zero vector) last. Empty while there are no vectors. Fails with `invalid`
   * on a class that skips vector indexing and for a vector of another length.
   */
  searchByVector(search: VectorSearch, bounds?: WorkBounds): Promise<readonly VectorSearchHit[]>;
  listObjects(listing: ObjectListing, bounds?: WorkBounds): Promise<readonly StoredObject[]>;
  /** Ids of all objects that satisfy the filter, ascending. Fails with `tooLarge` when there are more than `idsMax`. */
  matchingIds(filter: ShardFilter, idsMax: number, bounds?: WorkBounds): Promise<readonly ObjectId[]>;
  aggregate(aggregation: ShardAggregation, bounds?: WorkBounds): Promise<ShardAggregate>;
  condition(): ShardCondition;
  statistics(): ShardStatistics;
}

/**
 * Writes are durable, found by id and found by vector when they resolve. Those that come in one iteration of the event loop, or
 * while a commit is under way, share the next commit and take effect in the order of the calls; objects of more than
 * 128 KiB together take some steps first. Many MiB take several commits, one after the other. When the store fails,
 * every write of that commit fails with the store's error and nothing of it is visible. A write with a property that the
 * shard does not know yet fails with `unavailable`.
 */
export interface ShardWriter {
  /**
   * Outcomes in the order of the objects; a refused one (`invalid`, `notFound`) does not hinder the others. Of objects
   * with one id the last stays. Fails with `overloaded` while too much is pending, and while the memory budget has no room
   * for it; merges do, too.
   */
  putObjects(objects: readonly DataObject[], mode: PutMode): Promise<readonly (PutTimes | ShoalError)[]>;
  /** The whole object after the merge, its vector and extras included. Fails with `notFound` and `invalid`. */
  mergeObject(merge: ObjectMerge): Promise<StoredObject>;
  /** As `putObjects`, for merges: all in one commit, each sees those before it. */
  mergeObjects(merges: readonly ObjectMerge[]): Promise<readonly (PutTimes | ShoalError)[]>;
  /**
   * False when it was not there. Also removes an object whose row is damaged, but not one that was lost together with its
   * id: nobody knows whether it was there (`dataLoss`).
   */
  deleteObject(id: ObjectId): Promise<boolean>;
}

export interface RoomBounds {
  /** Whether so many bytes may be taken for a while. */
  readonly hasRoom: (bytes: number) => boolean;
  /** Whether searches by vector may wait for it. */
  readonly mayReload: boolean;
}

/** One shard of one class on one disk. Disposing of it drains it and writes snapshots; the store stays the caller's. */
export interface Shard extends ShardReader, ShardWriter, AsyncDisposable {
  /** Undefined: the shard has one copy. */
  readonly copy: CopyStore | undefined;
  /** Takes over settings that may change; fails with `invalid` when one differs that is fixed at creation. */
  configure(settings: ShardSettings): void;
  /** Resolves when the vectors outside the graph are within their bound. */
  settled(signal?: AbortSignal): Promise<void>;
  /** Resolves when the graph has linked everything. */
  linked(signal?: AbortSignal): Promise<void>;
  /**
   * Builds the vector index again without what was removed of it: beside the one in use where there is room for that, else from the
   * rows where it may, while searches by vector and writes wait. Writes do so for the last moment only in the first case. From the
   * rows it does nothing after a failed write, until one has succeeded, nor where vectors that are in a file would take
   * more memory than it gave back. A shard that is disposed of meanwhile ends it.
   */
  makeRoom(bounds: RoomBounds): Promise<void>;
  /** Writes both snapshots and cuts the journal. */
  snapshot(): Promise<void>;
  /** Refuses further writes and resolves when those that were accepted are done. Reads go on. */
  drain(): Promise<void>;
}
