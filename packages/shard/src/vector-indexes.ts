import {
  CLIENT_PHRASES,
  type MeasuredRecall,
  ShoalError,
  TARGET_RECALL_DEFAULT,
  type VectorIndexConfig,
} from "@shoal/model";
import {
  type DamagedVector,
  SnapshotReceiver,
  type VectorIndex,
  type VectorIndexSettings,
  type VectorSearchSettings,
} from "@shoal/vector-index";

/** Where a shard gets its vector index from. */
export interface VectorIndexes {
  create(settings: VectorIndexSettings, search: VectorSearchSettings): VectorIndex | Promise<VectorIndex>;
  /** Fails with `notFound` when there is no file at `path` and with `dataLoss` when it cannot be used. */
  load(path: string, settings: VectorIndexSettings, search: VectorSearchSettings): Promise<VectorIndex>;
}

export interface VectorIndexSourceOptions {
  readonly unindexedVectorsMax: number;
  readonly onMeasured: (recall: MeasuredRecall) => void;
  /** Whether so many bytes may be taken for a while. */
  readonly hasRoom: ((bytes: number) => boolean) | undefined;
}

/** The class's settings for vectors, and the one index that they lead to. */
export class VectorIndexSource {
  readonly #indexes: VectorIndexes;
  readonly #options: VectorIndexSourceOptions;
  #config: VectorIndexConfig;
  /** Made for a commit that then failed. */
  #spare: VectorIndex | undefined;
  readonly #opened = new Set<VectorIndex>();
  /** Hears of a vector that a snapshot, or a rebuild in the background, cannot read. */
  onDamaged: (damage: DamagedVector) => void = () => undefined;

  constructor(indexes: VectorIndexes, config: VectorIndexConfig, options: VectorIndexSourceOptions) {
    this.#indexes = indexes;
    this.#config = config;
    this.#options = options;
  }

  /** Whether the class's vectors are stored but not indexed. */
  get skip(): boolean {
    return this.#config.skip;
  }

  async create(dimensions: number): Promise<VectorIndex> {
    if (this.#spare?.dimensions === dimensions) return this.#spare;
    await this.#spare?.[Symbol.asyncDispose]();
    this.#spare = await this.#indexes.create(this.#settings(dimensions), this.#searchSettings());
    this.#opened.add(this.#spare);
    return this.#spare;
  }

  async load(path: string, dimensions: number): Promise<VectorIndex> {
    const index = await this.#indexes.load(path, this.#settings(dimensions), this.#searchSettings());
    this.#opened.add(index);
    return index;
  }

  /** Begins to put a snapshot of another copy together, to be loaded from `path`. Fails with `dataLoss` when it is of other settings. */
  receive(path: string, dimensions: number | undefined, manifest: Buffer): Promise<SnapshotReceiver> {
    const { maxConnections, efConstruction } = this.#config;
    return SnapshotReceiver.begin(path, { dimensions, maxConnections, efConstruction }, manifest);
  }

  /** Disposes of one that came from here: the next one is another. */
  async discard(index: VectorIndex): Promise<void> {
    if (this.#spare === index) this.#spare = undefined;
    this.#opened.delete(index);
    await index[Symbol.asyncDispose]();
  }

  /** `index`: the one in use, if any. Fails with `invalid` when a setting differs that is fixed when a class is created. */
  configure(config: VectorIndexConfig, className: string, index: VectorIndex | undefined): void {
    for (const name of ["skip", "maxConnections", "efConstruction"] as const) {
      if (config[name] === this.#config[name]) continue;
      throw new ShoalError(
        "invalid",
        `${CLIENT_PHRASES.immutable(`${name} of class '${className}'`)}: attempted change from "${this.#config[name]}" to "${config[name]}"`,
      );
    }
    this.#config = config;
    for (const one of new Set([index, this.#spare])) one?.configure(this.#searchSettings());
  }

  /** Disposes of every index that came from here. */
  async dispose(): Promise<void> {
    for (const index of this.#opened) await index[Symbol.asyncDispose]();
    this.#opened.clear();
  }

  #settings(dimensions: number): VectorIndexSettings {
    const { maxConnections, efConstruction } = this.#config;
    return { dimensions, maxConnections, efConstruction };
  }

  #searchSettings(): VectorSearchSettings {
    const { ef, flatSearchCutoff, cleanupIntervalSeconds, vectorCacheMaxObjects } = this.#config;
    const { targetRecall = TARGET_RECALL_DEFAULT } = this.#config;
    const { unindexedVectorsMax, onMeasured, hasRoom } = this.#options;
    return {
      ef,
      targetRecall,
      flatSearchCutoff,
      cleanupIntervalSeconds,
      vectorCacheMaxObjects,
      unindexedVectorsMax,
      onMeasured,
      onDamaged: (damage) => this.onDamaged(damage),
      hasRoom,
    };
  }
}
