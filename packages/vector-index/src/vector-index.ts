import type { MeasuredRecall } from "@shoal/model";
import type { DamagedVector } from "./native-result.js";
import type { Waiting } from "./searches-under-way.js";

/** Settings that are fixed when an index is created. */
export interface VectorIndexSettings {
  readonly dimensions: number;
  /** Neighbours of a node in the lowest layer; upper layers keep half. Fewer than 4 act as 4. */
  readonly maxConnections: number;
  readonly efConstruction: number;
}

/** Settings that may change while the index is open. */
export interface VectorSearchSettings {
  /**
   * Candidates kept during a search, at least as many as results are wanted (so 0 is allowed); -1: as many as the index has
   * measured that it takes to find `targetRecall` of the nearest.
   */
  readonly ef: number;
  /** The share of the nearest that searches find on average, above 0 and up to 1; with 1 rows are scanned. */
  readonly targetRecall: number;
  /** Called with each measurement. */
  readonly onMeasured?: ((recall: MeasuredRecall) => void) | undefined;
  /** A filter that allows at most so many ids may be answered by a flat scan. */
  readonly flatSearchCutoff: number;
  /** Vectors that are not linked into the graph yet; writers wait in `settled` while there are more. */
  readonly unindexedVectorsMax: number;
  /** How often the index looks whether its tombstones are worth a rebuild. 0 switches that off. */
  readonly cleanupIntervalSeconds: number;
  /** Whether so many bytes may be taken for a while, as a rebuild does; absent: they may. */
  readonly hasRoom?: ((bytes: number) => boolean) | undefined;
  /** Called with a document whose vector cannot be read when no caller waits for what needs it: a rebuild in the background. */
  readonly onDamaged?: ((damage: DamagedVector) => void) | undefined;
  /**
   * Float32 vectors that are kept in memory; of more than these only graph and codes are, and the vectors are read from the file of
   * the last snapshot. A larger number takes effect when the index is loaded again. Absent: all.
   */
  readonly vectorCacheMaxObjects?: number;
}

export interface VectorSearchOptions {
  /** Shards that the results are merged over, this one among them: with automatic `ef`, each looks at fewer candidates. */
  readonly shards?: number | undefined;
  /** Overrides the index's `ef` for this query. */
  readonly ef?: number;
  /** Bit `doc % 32` of word `doc / 32` is set when `doc` may be a result. Absent: all may. */
  readonly allowed?: Uint32Array | undefined;
  /** Who waits for the result; the signal is asked for only when that takes long. */
  readonly waiting?: Waiting;
}

/** Nearest first; equal distances by smaller document id. */
export interface NearestDocuments {
  readonly documents: Uint32Array;
  /** Exact float32 cosine distances, 0 to 2; NaN where a vector is all zeros. */
  readonly distances: Float32Array;
}

export interface VectorIndexStatistics {
  /** Documents that can be found. */
  readonly count: number;
  /** Of these, how many are found by flat scan because the graph has not linked them yet. */
  readonly unindexed: number;
  /** Removed documents that still take up space in the graph. */
  readonly tombstones: number;
  /** These, and those that no graph has linked: what a rebuild leaves out. */
  readonly deadRows: number;
  /** Vectors, those of dead rows included, that have their float32 values in memory. */
  readonly resident: number;
  readonly memoryBytes: number;
  /** What the last snapshot takes on disk; 0 before the first. */
  readonly fileBytes: number;
  /** Undefined where rows are scanned, where `ef` is a number, and before the first measurement. */
  readonly recall: MeasuredRecall | undefined;
}

/**
 * Nearest vectors of one shard, by document id (uint32). What `put` returned from is found by the next `search`: entries
 * that the graph has not linked yet are scanned flat. All heavy work runs on native threads. The index keeps the
 * sequence number of the last change it was given and carries it through snapshots.
 */
export interface VectorIndex extends AsyncDisposable {
  readonly dimensions: number;
  /** Sequence number of the last change applied; 0 for a new index. */
  readonly sequence: number;
  /**
   * Adds vectors or replaces those of documents that have one. `vectors` is row-major, `documents.length * dimensions`
   * float32 (copied; need not be normalised). Fails with `invalid` on NaN, Infinity or a wrong length, before anything changes.
   */
  put(documents: Uint32Array, vectors: Float32Array, sequence: number): void;
  /** Whether what is damaged is the document's vector still: it may have been put again, repaired or removed since. */
  holds(damage: DamagedVector): boolean;
  /** As `put` of one vector, also where the document has it already: instead of one that is damaged. */
  mend(document: number, vector: Float32Array): void;
  /** Removes documents; unknown ones are ignored. */
  remove(documents: Uint32Array, sequence: number): void;
  /** Fails with {@link DamagedVector} when a vector that may be among the nearest cannot be read; `rebuild` and `snapshot`, too. */
  search(query: Float32Array, count: number, options?: VectorSearchOptions): Promise<NearestDocuments>;
  configure(settings: VectorSearchSettings): void;
  /** Resolves when the unindexed vectors are at most `unindexedVectorsMax`: what a writer awaits before it takes more. */
  settled(signal?: AbortSignal): Promise<void>;
  /** Resolves when the graph has linked everything. */
  linked(signal?: AbortSignal): Promise<void>;
  /** Builds the graph again without tombstones; searches go on meanwhile. */
  rebuild(): Promise<void>;
  /**
   * Writes header, vectors, graph and watermark to `path` (temporary name, fsync, rename, fsync of the folder) and
   * returns the sequence number that the file has reached. Searches and `put` go on meanwhile. Of what it holds, float32 values of more
   * than `vectorsKept` rows leave memory where codes suffice; without, as the settings say.
   */
  snapshot(path: string, vectorsKept?: number): Promise<number>;
  statistics(): VectorIndexStatistics;
}
