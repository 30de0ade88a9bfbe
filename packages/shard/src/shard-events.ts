import type { MeasuredRecall, ObjectId, ShoalError } from "@shoal/model";

/** A view of the journal: `ids` the table of ids, `vectors` the vector index. */
export type ViewName = "ids" | "vectors";

/** What a shard tells its process. It never logs by itself. */
export type ShardEvent =
  | {
      readonly type: "recovered";
      readonly objectCount: number;
      readonly sequence: number;
      /** Changes that were newer than a snapshot. */
      readonly replayedChanges: number;
      /** Views that were rebuilt from the rows. */
      readonly rebuilt: readonly ViewName[];
      readonly elapsedMs: number;
    }
  | { readonly type: "damageFound"; readonly damage: Damage }
  | { readonly type: "snapshotWritten"; readonly view: ViewName; readonly sequence: number }
  | { readonly type: "snapshotFailed"; readonly error: ShoalError }
  | { readonly type: "writesFailed"; readonly error: ShoalError }
  | { readonly type: "writesResumed" }
  /** The vector index was rebuilt from the rows, for there was no memory to do it beside the one in use. */
  | { readonly type: "vectorsReloaded"; readonly objectCount: number; readonly elapsedMs: number }
  /** The vector index that another copy has sent has other documents than the rows, in the end. All rows are reinserted into the graph; nothing is damaged. */
  | { readonly type: "copiedGraphUnfit"; readonly vectors: number; readonly expected: number }
  /** The inverted index was rebuilt from the rows. */
  | { readonly type: "indexBuilt"; readonly objectCount: number; readonly elapsedMs: number }
  /** It could not be built; filters and aggregations are refused until it is. */
  | { readonly type: "indexFailed"; readonly error: ShoalError }
  /** The vector index has measured its searches. */
  | { readonly type: "recallMeasured"; readonly recall: MeasuredRecall };

export type Damage =
  /** The row of an object cannot be read; reading the object fails with `dataLoss`. `id` may be damaged itself. */
  | { readonly what: "row"; readonly id: ObjectId | undefined; readonly reason: string }
  /** Rows were lost together with their ids: so many, or nobody knows how many. Lists and searches fail. */
  | { readonly what: "unknownRows"; readonly count: number | undefined }
  /** A journal record cannot be read or is missing; the views are rebuilt from the rows. */
  | { readonly what: "journal"; readonly reason: string }
  /** A snapshot cannot be read; its view is rebuilt. */
  | { readonly what: "snapshot"; readonly view: ViewName; readonly reason: string }
  /** The vector of an object cannot be read from the file of a snapshot; it is taken from the object's row again. */
  | { readonly what: "vector"; readonly id: ObjectId | undefined; readonly reason: string }
  /** A record of the inverted index cannot be read; it is rebuilt from the rows. */
  | { readonly what: "index"; readonly reason: string }
  /** The store has less than a snapshot has seen: acknowledged changes are gone. */
  | { readonly what: "lostChanges"; readonly storeSequence: number; readonly snapshotSequence: number };

export type OnShardEvent = (event: ShardEvent) => void;
