import type {
  DocumentSet,
  DocumentTest,
  IndexedChange,
  InvertedIndex,
  InvertedIndexOptions,
  PlannedChanges,
} from "@shoal/inverted-index";
import type { KeyValueStore } from "@shoal/kv";
import {
  type PropertyDefinition,
  type ShardAggregate,
  type ShardAggregation,
  type ShardFilter,
  ShoalError,
} from "@shoal/model";
import type { WorkBounds } from "@shoal/runtime";
import { buildIndex } from "./build-index.js";
import type { IdTable } from "./id-table.js";
import { indexRecord } from "./index-record.js";
import { INDEX_PREFIXES } from "./key-layout.js";
import type { OnShardEvent } from "./shard-events.js";
import type { TableDirectory } from "./table-directory.js";

/** What a shard knows of its inverted index; memory and limits are the process's matter. */
export type InvertedIndexSite = Omit<InvertedIndexOptions, "memory" | "longReads">;

/** Where a shard gets its inverted index from. */
export type CreateInvertedIndex = (site: InvertedIndexSite) => InvertedIndex;

export interface ObjectIndexOptions {
  readonly className: string;
  readonly shardName: string;
  readonly place: string;
  readonly store: KeyValueStore;
  readonly table: IdTable;
  readonly directory: TableDirectory;
  readonly properties: readonly PropertyDefinition[];
  readonly createIndex: CreateInvertedIndex;
  /** False: the records on disk are not those of the rows. */
  readonly indexIsWhole: boolean;
  readonly clock: () => number;
  readonly onEvent: OnShardEvent;
  /** To be called when the index is to be rebuilt: somebody has found it damaged, or waits for it. */
  readonly onDue: () => void;
}

/** What a filter kept; it holds until the next change. */
interface KeptSet {
  readonly filter: ShardFilter;
  readonly change: number;
  readonly documents: DocumentSet;
}

/** A build that has failed is tried again after so long, when somebody reads or writes. */
const RETRY_MS = 5_000;

/**
 * The inverted index of a shard while its records agree with the rows; when they may not, nothing is answered from it and
 * nothing is added to it, until it has been rebuilt from the rows. That is so after an upgrade, when the index itself is
 * damaged, and when an object is written or deleted whose row was lost: what the index has of it is not known then, and it
 * need not be the only one. It is built when all rows can be read again.
 */
export class ObjectIndex {
  readonly #options: ObjectIndexOptions;
  #properties: readonly PropertyDefinition[];
  #index: InvertedIndex;
  #isWhole: boolean;
  /** Damage that is met again after a build is beyond repair: then it is only reported. */
  #wasBuiltForDamage = false;
  /** Keeps the index from being built before the next opening. */
  #beyondRepair: ShoalError | undefined;
  #retryAtMs = 0;
  /** Counts what may change a result. */
  #changes = 0;
  /** Of the filter that was asked last: one who asks for many vectors asks again with the very same value. */
  #kept: KeptSet | undefined;

  constructor(options: ObjectIndexOptions) {
    this.#options = options;
    this.#properties = options.properties;
    this.#isWhole = options.indexIsWhole;
    this.#index = this.#create(options.table.count === 0);
  }

  get isWhole(): boolean {
    return this.#isWhole;
  }

  get memoryBytes(): number {
    return this.#index.memoryBytes;
  }

  configure(properties: readonly PropertyDefinition[]): void {
    this.#properties = properties;
    this.#changed();
    this.#index.configure(properties);
  }

  /** Undefined: what some object was before is not known. Fails as the index does, but never for damage. `admit`: as of the index. */
  async plan(changes: readonly IndexedChange[] | undefined, admit?: (bytes: number) => void): Promise<PlannedChanges> {
    if (!this.#isWhole || changes === undefined) return this.#outdating();
    try {
      const { batch, ...planned } = await this.#index.plan(changes, admit);
      const applied = (): void => {
        this.#changed();
        planned.applied();
      };
      return { batch, applied, failed: planned.failed };
    } catch (thrown) {
      const error = ShoalError.from(thrown);
      if (error.code !== "dataLoss") throw error;
      this.#reportDamage(error);
      if (this.#wasBuiltForDamage) this.#beyondRepair = error;
      this.#wasBuiltForDamage = true;
      return this.#outdating();
    }
  }

  /** Nothing in memory is believed any more; the records on disk are. */
  renew(): void {
    this.#changed();
    this.#index[Symbol.dispose]();
    this.#index = this.#create(false);
  }

  /** What the records on disk say is not believed any more. */
  outdate(): void {
    this.#isWhole = false;
  }

  /** As the index does. A value that was asked with last is answered from memory until something changes. */
  matching(filter: ShardFilter, bounds?: WorkBounds): DocumentSet | Promise<DocumentSet> {
    const kept = this.#kept;
    if (kept?.filter === filter && kept.change === this.#changes && this.#isWhole) return kept.documents;
    const change = this.#changes;
    const documents = this.#ask((index) => index.matching(filter, bounds));
    return documents instanceof Promise
      ? documents.then((settled) => this.#keep({ filter, change, documents: settled }))
      : this.#keep({ filter, change, documents });
  }

  /** As the index does; fails as {@link matching}. */
  test(filter: ShardFilter): DocumentTest | undefined {
    const index = this.#readable();
    try {
      return index.test(filter);
    } catch (thrown) {
      throw this.#failure(thrown);
    }
  }

  aggregate(aggregation: ShardAggregation, bounds?: WorkBounds): ShardAggregate | Promise<ShardAggregate> {
    return this.#ask((index) => index.aggregate(aggregation, bounds));
  }

  /** Whether it is not whole, and could be built. */
  get isDue(): boolean {
    if (this.#isWhole || this.#beyondRepair !== undefined) return false;
    const { table, clock } = this.#options;
    return !table.doubtful && table.lostObject() === undefined && clock() >= this.#retryAtMs;
  }

  /** Builds it from the rows; nothing else may write meanwhile. A failure is reported by an event. */
  async build(signal: AbortSignal): Promise<void> {
    const { clock, onEvent, table } = this.#options;
    const began = clock();
    this.#isWhole = false;
    this.#changed();
    this.#index[Symbol.dispose]();
    this.#index = this.#create(true);
    try {
      await buildIndex({ ...this.#options, index: this.#index, signal });
      this.#isWhole = true;
      onEvent({ type: "indexBuilt", objectCount: table.count, elapsedMs: clock() - began });
    } catch (thrown) {
      this.#retryAtMs = clock() + RETRY_MS;
      if (!signal.aborted) onEvent({ type: "indexFailed", error: ShoalError.from(thrown) });
    }
  }

  dispose(): void {
    this.#index[Symbol.dispose]();
  }

  #changed(): void {
    this.#changes++;
    this.#kept = undefined;
  }

  #keep(kept: KeptSet): DocumentSet {
    if (kept.change === this.#changes) this.#kept = kept;
    return kept.documents;
  }

  #create(isEmpty: boolean): InvertedIndex {
    const { store, directory, className, shardName, createIndex } = this.#options;
    const properties = this.#properties;
    return createIndex({ store, directory, className, shardName, properties, prefixes: INDEX_PREFIXES, isEmpty });
  }

  /** The commit goes on without the index, and says so on disk. */
  #outdating(): PlannedChanges {
    return {
      batch: [indexRecord(false)],
      applied: () => this.outdate(),
      // It may be on the disk all the same.
      failed: () => this.outdate(),
    };
  }

  #ask<Result>(question: (index: InvertedIndex) => Result | Promise<Result>): Result | Promise<Result> {
    const index = this.#readable();
    try {
      const result = question(index);
      return result instanceof Promise ? this.#settled(index, result, question) : result;
    } catch (thrown) {
      throw this.#failure(thrown);
    }
  }

  async #settled<Result>(
    index: InvertedIndex,
    result: Promise<Result>,
    question: (index: InvertedIndex) => Result | Promise<Result>,
  ): Promise<Result> {
    let responded: Result;
    try {
      responded = await result;
    } catch (thrown) {
      throw this.#failure(thrown);
    }
    // Its records may have been cleared while it read them.
    return index === this.#index && this.#isWhole ? responded : this.#ask(question);
  }

  #readable(): InvertedIndex {
    if (this.#isWhole) return this.#index;
    if (this.#beyondRepair !== undefined) throw this.#beyondRepair;
    const { place, onDue } = this.#options;
    if (this.isDue) onDue();
    throw new IndexBeingBuilt(place);
  }

  /** A damaged index is one that is rebuilt, from now on. */
  #failure(thrown: unknown): unknown {
    if (!(thrown instanceof ShoalError) || thrown.code !== "dataLoss") return thrown;
    if (this.#options.directory.hasFailedWith(thrown)) return thrown;
    if (this.#isWhole && !this.#wasBuiltForDamage) {
      this.#wasBuiltForDamage = true;
      this.#reportDamage(thrown);
      this.outdate();
      this.#options.onDue();
    }
    return thrown;
  }

  #reportDamage({ message }: ShoalError): void {
    this.#options.onEvent({ type: "damageFound", damage: { what: "index", reason: message } });
  }
}

/** Nothing that needs the inverted index is answered for now. */
export class IndexBeingBuilt extends ShoalError {
  constructor(place: string) {
    super("unavailable", `the inverted index of ${place} is being built, filters are answered later`, {
      retryAfterSeconds: 1,
    });
  }
}
