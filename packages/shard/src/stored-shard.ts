import type { KeyValueStore } from "@shoal/kv";
import {
  type DataObject,
  type ObjectId,
  type ObjectListing,
  type ObjectMerge,
  type PropertyDefinition,
  type PutMode,
  type PutTimes,
  type RowFields,
  type ShardAggregate,
  type ShardAggregation,
  type ShardFilter,
  ShoalError,
  type StoredObject,
  type VectorSearch,
  type VectorSearchHit,
} from "@shoal/model";
import type { Gate, WorkBounds } from "@shoal/runtime";
import { livingBytes, orAborted, reloadedBytes } from "@shoal/vector-index";
import { CommitLoop } from "./commit-loop.js";
import { CopiedGraph } from "./copied-graph.js";
import { type CopyStore, StoredCopy } from "./copy-store.js";
import type { IdPresenceFilter } from "./id-presence-filter.js";
import { listObjects } from "./list-objects.js";
import { lostObjectError, unknownObjectsError } from "./lost-objects.js";
import { matchingIds } from "./matching-objects.js";
import type { MemoryAdmission } from "./memory-admission.js";
import { type CreateInvertedIndex, ObjectIndex } from "./object-index.js";
import type { OwnCopy } from "./own-copy.js";
import { vectorFault } from "./prepare-put.js";
import type { ListedShard } from "./read-matching.js";
import { readObjects } from "./read-objects.js";
import { RowReader } from "./read-rows.js";
import type { Recovered } from "./recover.js";
import { ReloadedVectors } from "./reloaded-vectors.js";
import type { RowView } from "./row.js";
import { RowCache } from "./row-cache.js";
import type { RowCacheBudget } from "./row-cache-budget.js";
import { queryLengthError, searchByVector } from "./search-by-vector.js";
import type { RoomBounds, Shard, ShardCondition, ShardSettings, ShardStatistics } from "./shard.js";
import type { OnShardEvent } from "./shard-events.js";
import type { ShardLimits } from "./shard-limits.js";
import { ShardWrites } from "./shard-writes.js";
import type { SnapshotPaths } from "./snapshot-files.js";
import { Snapshots } from "./snapshots.js";
import { TableDirectory } from "./table-directory.js";
import type { VectorIndexSource } from "./vector-indexes.js";
import type { Views } from "./views.js";

export interface StoredShardParts {
  readonly className: string;
  readonly shardName: string;
  readonly place: string;
  readonly store: KeyValueStore;
  readonly source: VectorIndexSource;
  readonly paths: SnapshotPaths;
  readonly dimensions: number | undefined;
  /** What the format record says. */
  readonly storedDimensions: number | undefined;
  readonly epoch: number;
  readonly copy: OwnCopy | undefined;
  readonly limits: ShardLimits;
  readonly rowCache: RowCacheBudget;
  readonly rowReads: Gate;
  readonly idPresenceFilter: IdPresenceFilter | undefined;
  readonly clock: () => number;
  readonly onEvent: OnShardEvent;
  readonly recovered: Recovered;
  readonly properties: readonly PropertyDefinition[];
  readonly createIndex: CreateInvertedIndex;
  /** Whether the records of the inverted index are believed. */
  readonly indexIsWhole: boolean;
  readonly memory: MemoryAdmission;
  readonly hashSeed: number;
}

/** A shard whose views have been recovered; `openShard` makes it. */
export class StoredShard implements Shard {
  readonly className: string;
  readonly shardName: string;
  readonly #parts: StoredShardParts;
  readonly #views: Views;
  readonly #rows: RowReader;
  readonly #cache: RowCache;
  readonly #index: ObjectIndex;
  readonly #commits: CommitLoop;
  readonly #writes: ShardWrites;
  readonly #snapshots: Snapshots;
  readonly #vectors: ReloadedVectors;
  readonly #copy: StoredCopy | undefined;
  #disposing: Promise<void> | undefined;
  #reloading: Promise<void> | undefined;

  constructor(parts: StoredShardParts) {
    const { store, recovered, place, rowReads: gate } = parts;
    const { views } = recovered;
    this.className = parts.className;
    this.shardName = parts.shardName;
    this.#parts = parts;
    this.#views = views;
    views.table.countIn(parts.idPresenceFilter);
    this.#cache = new RowCache(parts.rowCache);
    this.#snapshots = new Snapshots({ ...parts, views }, recovered.snapshotSequence);
    const commitUnderWay = this.#commitUnderWay;
    const { table } = views;
    this.#rows = new RowReader({ store, table, cache: this.#cache, place, commitUnderWay, gate });
    const directory = new TableDirectory(table, this.#rows);
    this.#index = new ObjectIndex({ ...parts, table, directory, onDue: () => void this.#commits.buildIndex() });
    this.#commits = new CommitLoop(
      {
        ...parts,
        views,
        index: this.#index,
        cachedRow: (document) => this.#cache.get(document),
        onCommitted: (documents, row) => {
          this.#rows.rowsWritten(documents, row);
          this.#snapshots.committed();
        },
      },
      parts.dimensions,
      parts.storedDimensions,
    );
    this.#writes = new ShardWrites(this.#commits, this.className, parts.limits, parts.memory);
    this.#vectors = new ReloadedVectors({
      ...parts,
      views,
      runExclusively: (work) => this.#commits.runExclusively(work),
      rowsAreKnown: () => this.#commits.storeError === undefined,
    });
    const { copy } = parts;
    const writing = { store, views, commits: this.#commits, snapshots: this.#snapshots, place };
    const graph = new CopiedGraph({ ...parts, ...writing, vectors: this.#vectors });
    this.#copy = copy && new StoredCopy({ ...writing, copy, graph });
    this.#snapshots.committed();
  }

  /** To be called once before the shard is used: builds an inverted index that is not whole, if that can be done. */
  async prepare(): Promise<this> {
    await this.#copy?.prepare();
    if (!this.#index.isWhole) await this.#commits.buildIndex();
    return this;
  }

  get copy(): CopyStore | undefined {
    return this.#copy;
  }

  get objectCount(): number {
    const { table } = this.#views;
    return Math.max(table.count, table.expected?.count ?? 0);
  }

  get dimensions(): number | undefined {
    return this.#commits.dimensions;
  }

  get idPresenceFilter(): IdPresenceFilter | undefined {
    return this.#parts.idPresenceFilter;
  }

  hasObject(id: ObjectId): boolean | Promise<boolean> {
    const { table } = this.#views;
    if (table.find(id) >= 0) return true;
    return table.doubtful ? this.#rows.mayHave(id) : false;
  }

  async getObjects(
    ids: readonly ObjectId[],
    fields: RowFields,
    bounds: WorkBounds = {},
  ): Promise<readonly (StoredObject | undefined)[]> {
    const { table } = this.#views;
    const objects = ids.map((id) => ({ id, document: table.find(id) }));
    const reading = { className: this.className, fields, bounds };
    if (this.#copy === undefined) return readObjects(this.#rows, objects, reading);
    let newest = 0;
    const onRow = (_at: number, row: RowView): void => {
      newest = Math.max(newest, row.sequence);
    };
    const found = await readObjects(this.#rows, objects, { ...reading, onRow });
    if (newest > this.#views.sequence) await this.#acknowledged(newest, bounds);
    return found;
  }

  /** Of a commit that was under way it is not known before whether it may be seen. */
  async #acknowledged(sequence: number, { signal }: WorkBounds): Promise<void> {
    await orAborted(this.#commitUnderWay(), signal);
    if (sequence <= this.#views.sequence) return;
    throw new ShoalError("unavailable", `nobody knows what becomes of change ${sequence} of ${this.#parts.place}`);
  }

  async searchByVector(search: VectorSearch, bounds: WorkBounds = {}): Promise<readonly VectorSearchHit[]> {
    if (this.#parts.source.skip) {
      throw new ShoalError("invalid", "cannot vector-search on a class not vector-indexed");
    }
    checkCount("count", search.count);
    const fault = vectorFault(search.vector, this.#parts.limits.dimensionsMax);
    if (fault !== undefined) throw new ShoalError("invalid", `query vector ${fault}`);
    const { dimensions } = this;
    if (dimensions !== undefined && dimensions !== search.vector.length) {
      throw queryLengthError(this.className, dimensions, search.vector.length);
    }
    if (this.#commits.broken !== undefined) throw this.#commits.broken;
    this.#checkWhole("searches");
    if (search.count === 0) return [];
    return this.#vectors.search(bounds, async (vectors) =>
      vectors === undefined ? [] : searchByVector(this.#listed, vectors, search, bounds),
    );
  }

  async listObjects(listing: ObjectListing, bounds: WorkBounds = {}): Promise<readonly StoredObject[]> {
    checkCount("limit", listing.limit);
    checkCount("skip", listing.skip ?? 0);
    if (listing.order === "newest" && listing.after !== undefined) {
      throw new ShoalError("invalid", "'after' pages through objects in the order of their ids only");
    }
    const { order, filter } = listing;
    if (filter !== undefined) {
      if (order !== "id") throw new ShoalError("invalid", "'filter' goes with the order of ids only");
      return this.#filtered(() => this.#list(listing, bounds));
    }
    // An object in a page by id fails by itself, but where it stood among the newest is lost.
    this.#checkWhole("lists", order === "newest");
    return this.#list(listing, bounds);
  }

  matchingIds(filter: ShardFilter, idsMax: number, bounds: WorkBounds = {}): Promise<readonly ObjectId[]> {
    return this.#filtered(() => matchingIds(this.#views, () => this.#index.matching(filter, bounds), idsMax, bounds));
  }

  aggregate(aggregation: ShardAggregation, bounds: WorkBounds = {}): Promise<ShardAggregate> {
    return this.#filtered(() =>
      this.#views.recycling.runSearch(async () => this.#index.aggregate(aggregation, bounds)),
    );
  }

  putObjects(objects: readonly DataObject[], mode: PutMode): Promise<readonly (PutTimes | ShoalError)[]> {
    return this.#writes.putObjects(objects, mode);
  }

  mergeObject(merge: ObjectMerge): Promise<StoredObject> {
    return this.#writes.mergeObject(merge);
  }

  mergeObjects(merges: readonly ObjectMerge[]): Promise<readonly (PutTimes | ShoalError)[]> {
    return this.#writes.mergeObjects(merges);
  }

  deleteObject(id: ObjectId): Promise<boolean> {
    return this.#writes.deleteObject(id);
  }

  condition(): ShardCondition {
    const { objectCount } = this;
    const { broken, storeError } = this.#commits;
    if (broken !== undefined) return { objectCount, status: "failed", reason: broken.message };
    if (storeError !== undefined) return { objectCount, status: "readOnly", reason: storeError.message };
    const { readOnlyReason } = this.#parts.memory;
    if (readOnlyReason !== undefined) return { objectCount, status: "readOnly", reason: readOnlyReason };
    return { objectCount, status: "ready", reason: this.#lossError("searches")?.message };
  }

  statistics(): ShardStatistics {
    return {
      sequence: this.#views.sequence,
      unsnapshotChanges: this.#snapshots.changes,
      pendingObjects: this.#commits.pendingObjects,
      idTableBytes: this.#views.table.memoryBytes(),
      rowCacheBytes: this.#cache.memoryBytes,
      invertedIndexBytes: this.#index.memoryBytes,
      vectors: this.#views.index?.statistics(),
    };
  }

  configure({ vectorIndexConfig, properties }: ShardSettings): void {
    this.#parts.source.configure(vectorIndexConfig, this.className, this.#views.index);
    this.#index.configure(properties);
  }

  async settled(signal?: AbortSignal): Promise<void> {
    await this.#views.index?.settled(signal);
  }

  async linked(signal?: AbortSignal): Promise<void> {
    await this.#views.index?.linked(signal);
  }

  async makeRoom({ hasRoom, mayReload }: RoomBounds): Promise<void> {
    const { index } = this.#views;
    if (index === undefined) return;
    const statistics = index.statistics();
    if (hasRoom(livingBytes(statistics))) return this.#vectors.rebuild(index);
    // Vectors that are in a file would come into memory.
    if (!mayReload || reloadedBytes(statistics, index.dimensions) >= statistics.memoryBytes) return;
    this.#reloading ??= this.#snapshots
      .pauseFor(() => this.#commits.runExclusively((closing) => this.#reload(closing)))
      .finally(() => {
        this.#reloading = undefined;
      });
    await this.#reloading;
  }

  /** The rows of a store of which nobody knows what it has are none to build from: the next write asks it first. */
  async #reload(closing: AbortSignal): Promise<void> {
    if (this.#commits.storeError === undefined) await this.#vectors.reload(closing);
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

  readonly #commitUnderWay = () => this.#commits.commitUnderWay();

  #list(listing: ObjectListing, bounds: WorkBounds): Promise<readonly StoredObject[]> {
    return listObjects(this.#listed, listing, bounds);
  }

  get #listed(): ListedShard {
    return {
      views: this.#views,
      index: this.#index,
      rows: this.#rows,
      className: this.className,
      commitUnderWay: this.#commitUnderWay,
    };
  }

  async #filtered<Result>(result: () => Promise<Result>): Promise<Result> {
    if (this.#commits.broken !== undefined) throw this.#commits.broken;
    this.#checkWhole("filters");
    return result();
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
    this.#index.dispose();
    this.#cache.clear();
    this.#views.table.countIn(undefined);
    await source.dispose();
  }
}

function checkCount(name: string, count: number): void {
  if (Number.isSafeInteger(count) && count >= 0) return;
  throw new ShoalError("invalid", `${name} is a whole number from 0, got ${count}`);
}
