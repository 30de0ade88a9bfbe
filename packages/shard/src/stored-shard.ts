import type { KeyValueStore } from "@shoal/kv";
import {
  type DataObject,
  type ObjectId,
  type ObjectListing,
  type ObjectMerge,
  type PutMode,
  type PutTimes,
  type ReadBounds,
  type RowFields,
  ShoalError,
  type StoredObject,
  type VectorIndexConfig,
  type VectorSearch,
  type VectorSearchHit,
} from "@shoal/model";
import { CommitLoop } from "./commit-loop.js";
import type { IdCensus } from "./id-census.js";
import { listObjects } from "./list-objects.js";
import { lostObjectError, unknownObjectsError } from "./lost-objects.js";
import { pendingWrite } from "./pending-write.js";
import { prepareMerge } from "./prepare-merge.js";
import { bytesOf, type Prepared, preparePuts, vectorFault } from "./prepare-put.js";
import { putInParts } from "./put-in-parts.js";
import { readObjects } from "./read-objects.js";
import { RowReader } from "./read-rows.js";
import type { Recovered } from "./recover.js";
import { RowCache } from "./row-cache.js";
import type { RowCacheBudget } from "./row-cache-budget.js";
import type { RowReadGate } from "./row-read-gate.js";
import { queryLengthError, searchByVector } from "./search-by-vector.js";
import type { Shard, ShardCondition, ShardStatistics } from "./shard.js";
import type { OnShardEvent } from "./shard-events.js";
import type { ShardLimits } from "./shard-limits.js";
import type { SnapshotPaths } from "./snapshot-files.js";
import { Snapshots } from "./snapshots.js";
import type { VectorIndexSource } from "./vector-indexes.js";
import type { Views } from "./views.js";
import { WriteClock } from "./write-clock.js";

export interface StoredShardParts {
  readonly className: string;
  readonly shardName: string;
  readonly place: string;
  readonly store: KeyValueStore;
  readonly source: VectorIndexSource;
  readonly paths: SnapshotPaths;
  readonly dimensions: number | undefined;
  readonly term: number;
  readonly limits: ShardLimits;
  readonly rowCache: RowCacheBudget;
  readonly rowReads: RowReadGate;
  readonly idCensus: IdCensus | undefined;
  readonly clock: () => number;
  readonly onEvent: OnShardEvent;
  readonly recovered: Recovered;
}

/** A shard whose views have been recovered; `openShard` makes it. */
export class StoredShard implements Shard {
  readonly className: string;
  readonly shardName: string;
  readonly #parts: StoredShardParts;
  readonly #views: Views;
  readonly #rows: RowReader;
  readonly #cache: RowCache;
  readonly #commits: CommitLoop;
  readonly #snapshots: Snapshots;
  #disposing: Promise<void> | undefined;

  constructor(parts: StoredShardParts) {
    const { store, recovered, place, rowReads: gate } = parts;
    const { views } = recovered;
    this.className = parts.className;
    this.shardName = parts.shardName;
    this.#parts = parts;
    this.#views = views;
    views.table.countIn(parts.idCensus);
    this.#cache = new RowCache(parts.rowCache);
    this.#snapshots = new Snapshots({ ...parts, views }, recovered.snapshotSequence);
    this.#commits = new CommitLoop(
      {
        ...parts,
        views,
        clock: new WriteClock(parts.clock, views.table.newestCreationTime()),
        onCommitted: (documents, row) => {
          this.#rows.rowsWritten(documents, row);
          this.#snapshots.committed();
        },
      },
      parts.dimensions,
    );
    const commitUnderWay = () => this.#commits.commitUnderWay();
    this.#rows = new RowReader({ store, table: views.table, cache: this.#cache, place, commitUnderWay, gate });
    this.#snapshots.committed();
  }

  get objectCount(): number {
    const { table } = this.#views;
    return Math.max(table.count, table.expected?.count ?? 0);
  }

  get dimensions(): number | undefined {
    return this.#commits.dimensions;
  }

  get idCensus(): IdCensus | undefined {
    return this.#parts.idCensus;
  }

  hasObject(id: ObjectId): boolean | Promise<boolean> {
    const { table } = this.#views;
    if (table.find(id) >= 0) return true;
    return table.doubtful ? this.#rows.mayHave(id) : false;
  }

  async getObjects(
    ids: readonly ObjectId[],
    fields: RowFields,
    bounds: ReadBounds = {},
  ): Promise<readonly (StoredObject | undefined)[]> {
    const { table } = this.#views;
    const objects = ids.map((id) => ({ id, document: table.find(id) }));
    return readObjects(this.#rows, objects, { className: this.className, fields, bounds });
  }

  async searchByVector(search: VectorSearch, bounds: ReadBounds = {}): Promise<readonly VectorSearchHit[]> {
    if (this.#parts.source.skip) {
      throw new ShoalError("invalid", "cannot vector-search on a class not vector-indexed");
    }
    checkCount("count", search.count);
    const fault = vectorFault(search.vector, this.#parts.limits.dimensionsMax);
    if (fault !== undefined) throw new ShoalError("invalid", `query vector ${fault}`);
    const { index } = this.#views;
    const { dimensions } = this;
    if (dimensions !== undefined && dimensions !== search.vector.length) {
      throw queryLengthError(this.className, dimensions, search.vector.length);
    }
    if (this.#commits.broken !== undefined) throw this.#commits.broken;
    this.#checkWhole("searches");
    if (index === undefined || search.count === 0) return [];
    return searchByVector(this.#views, index, search, this.className, this.#rows, bounds);
  }

  async listObjects(listing: ObjectListing, bounds: ReadBounds = {}): Promise<readonly StoredObject[]> {
    checkCount("limit", listing.limit);
    checkCount("skip", listing.skip ?? 0);
    if (listing.order === "newest" && listing.after !== undefined) {
      throw new ShoalError("invalid", "'after' pages through objects in the order of their ids only");
    }
    // An object in a page by id fails by itself, but where it stood among the newest is lost.
    this.#checkWhole("lists", listing.order === "newest");
    return listObjects(this.#views.table, this.#rows, this.className, listing, bounds);
  }

  async putObjects(objects: readonly DataObject[], mode: PutMode): Promise<readonly (PutTimes | ShoalError)[]> {
    const { limits } = this.#parts;
    const first = preparePuts(objects, 0, limits);
    if (first.length === objects.length) return this.#put(first, mode);
    return putInParts(objects, first, limits, (part) => this.#put(part, mode));
  }

  async mergeObject(merge: ObjectMerge): Promise<StoredObject> {
    const prepared = prepareMerge(merge, this.#parts.limits.dimensionsMax);
    if (prepared instanceof ShoalError) throw prepared;
    const { className } = this;
    const { write, outcome } = pendingWrite<StoredObject>({
      objects: 1,
      bytes: prepared.bytes,
      baseIds: [merge.id],
      change: (draft) => {
        const row = draft.merge(prepared);
        return row instanceof ShoalError ? row : row.toObject(merge.id, className, ALL_FIELDS);
      },
    });
    this.#commits.push(write);
    return outcome;
  }

  async mergeObjects(merges: readonly ObjectMerge[]): Promise<readonly (PutTimes | ShoalError)[]> {
    const prepared = merges.map((merge) => prepareMerge(merge, this.#parts.limits.dimensionsMax));
    const { write, outcome } = pendingWrite<readonly (PutTimes | ShoalError)[]>({
      objects: merges.length,
      bytes: prepared.reduce((sum, merge) => sum + (merge instanceof ShoalError ? 0 : merge.bytes), 0),
      baseIds: merges.map(({ id }) => id),
      change: (draft) => draft.mergeAll(prepared),
    });
    this.#commits.push(write);
    return outcome;
  }

  async deleteObject(id: ObjectId): Promise<boolean> {
    const { write, outcome } = pendingWrite<boolean>({
      objects: 1,
      bytes: DELETE_BYTES,
      baseIds: this.#views.table.doubtful ? [id] : [],
      change: (draft) => draft.delete(id),
    });
    this.#commits.push(write);
    return outcome;
  }

  condition(): ShardCondition {
    const { objectCount } = this;
    const { broken, storeError } = this.#commits;
    if (broken !== undefined) return { objectCount, status: "failed", reason: broken.message };
    if (storeError !== undefined) return { objectCount, status: "readOnly", reason: storeError.message };
    return { objectCount, status: "ready", reason: this.#lossError("searches")?.message };
  }

  statistics(): ShardStatistics {
    return {
      sequence: this.#views.sequence,
      unsnapshotChanges: this.#snapshots.changes,
      pendingObjects: this.#commits.pendingObjects,
      idTableBytes: this.#views.table.memoryBytes(),
      rowCacheBytes: this.#cache.memoryBytes,
      vectors: this.#views.index?.statistics(),
    };
  }

  configure(config: VectorIndexConfig): void {
    this.#parts.source.configure(config, this.className, this.#views.index);
  }

  async settled(signal?: AbortSignal): Promise<void> {
    await this.#views.index?.settled(signal);
  }

  async linked(signal?: AbortSignal): Promise<void> {
    await this.#views.index?.linked(signal);
  }

  snapshot(): Promise<void> {
    return this.#snapshots.write();
  }

  drain(): Promise<void> {
    return this.#commits.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#disposing ??= this.#dispose();
    return this.#disposing;
  }

  #put(prepared: Prepared, mode: PutMode): Promise<readonly (PutTimes | ShoalError)[]> {
    const puts = prepared.flatMap((put) => (put instanceof ShoalError ? [] : [put]));
    const { write, outcome } = pendingWrite<readonly (PutTimes | ShoalError)[]>({
      objects: puts.length,
      bytes: bytesOf(puts),
      baseIds: mode === "create" && !this.#views.table.doubtful ? [] : puts.map((put) => put.id),
      change: (draft) => prepared.map((put) => (put instanceof ShoalError ? put : draft.put(put, mode))),
    });
    this.#commits.push(write);
    return outcome;
  }

  /** What keeps answers that need every object from being whole. */
  #lossError(what: string, withKnown = true): ShoalError | undefined {
    const { table } = this.#views;
    const { place } = this.#parts;
    const lost = withKnown ? table.lostObject() : undefined;
    if (lost !== undefined) return lostObjectError(lost, place, what);
    return table.doubtful ? unknownObjectsError(table, place, what) : undefined;
  }

  #checkWhole(what: string, withKnown = true): void {
    const error = this.#lossError(what, withKnown);
    if (error !== undefined) throw error;
  }

  async #dispose(): Promise<void> {
    await this.drain();
    await this.#snapshots.close();
    const { onEvent, source } = this.#parts;
    if (this.#snapshots.changes > 0 && this.#commits.broken === undefined) {
      await this.#snapshots.write().catch((error: unknown) => {
        onEvent({ type: "snapshotFailed", error: ShoalError.from(error) });
      });
    }
    this.#cache.clear();
    this.#views.table.countIn(undefined);
    await source.dispose();
  }
}

/** What a delete counts for in the queue. */
const DELETE_BYTES = 64;

const ALL_FIELDS: RowFields = { properties: true, vector: true, extras: true };

function checkCount(name: string, count: number): void {
  if (Number.isSafeInteger(count) && count >= 0) return;
  throw new ShoalError("invalid", `${name} is a whole number from 0, got ${count}`);
}
