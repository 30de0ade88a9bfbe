import type { KeyValueChange } from "@shoal/kv";
import type { ObjectId, PropertyDefinition, ShardAggregate, ShardAggregation, ShardFilter } from "@shoal/model";
import type { WorkBounds } from "@shoal/runtime";
import type { DocumentSet } from "./document-set.js";

/** What an object's index entries are made from. */
export interface IndexedState {
  /** UTF-8 JSON of the properties, as the row holds it. */
  readonly propertiesJson: Uint8Array;
  /** Milliseconds since 1970. */
  readonly creationTimeUnix: number;
  readonly lastUpdateTimeUnix: number;
}

/** One object of a commit: what it was and what it will be. A document is in a commit once at most. */
export interface IndexedChange {
  readonly document: number;
  /** Undefined: the document is new. */
  readonly before: IndexedState | undefined;
  /** Undefined: it is deleted. */
  readonly after: IndexedState | undefined;
}

/** The index's part of a commit. Exactly one of the two calls follows, before the next `plan`. */
export interface PlannedChanges {
  /** Goes into the object's own batch. */
  readonly batch: readonly KeyValueChange[];
  /** The batch is durable: what is in memory follows, in one synchronous step. */
  applied(): void;
  /** The batch failed, and whether it reached the disk is unknown: nothing in memory is believed any more. */
  failed(): void;
}

/** What the index asks its shard about objects; all results come from memory. */
export interface ObjectDirectory {
  /** Documents below it may be in use. */
  readonly documentLimit: number;
  readonly count: number;
  /** All documents that are there; not to be changed. The same set until a commit changes it. */
  all(): DocumentSet;
  /** Negative when there is none. */
  find(id: ObjectId): number;
  idOf(document: number): ObjectId | undefined;
  /** All documents in ascending order of their ids, behind one of them if that is given. */
  byId(after?: ObjectId): Iterable<number>;
  /**
   * The stored properties of documents as UTF-8 JSON, in their order; undefined for one that is gone. Reads rows, in steps;
   * for the few questions that the index alone cannot settle.
   */
  propertiesOf(documents: readonly number[], bounds?: WorkBounds): Promise<readonly (Uint8Array | undefined)[]>;
}

/** A filter as a test of documents. */
export interface DocumentTest {
  /** No more documents pass it. */
  readonly atMost: number;
  /** `document`: one that is there. */
  passes(document: number): boolean;
}

/**
 * Which documents of one shard satisfy a filter, and figures over them. Its records stand in the shard's store and are
 * written in the same batch as the rows; what is in memory is a cache of them. Reads see every commit that was applied
 * and none that was not. A damaged record fails what needs it with `dataLoss`, naming class, shard and property.
 * Its shard makes another one in its place when nothing in memory is believed any more; reads of a disposed index that are
 * under way end with what was right before.
 */
export interface InvertedIndex extends Disposable {
  /** Properties of the class as they are now; new ones may come, none goes. */
  configure(properties: readonly PropertyDefinition[]): void;
  /**
   * What a commit changes in the index; waits for at most one read of the store. Fails with `unavailable` for an object
   * with a property that is not configured: this node does not know the newest schema yet. `admit` hears before it begins
   * how much memory the long values take until the commit has ended, and may throw.
   */
  plan(changes: readonly IndexedChange[], admit?: (bytes: number) => void): Promise<PlannedChanges>;
  /**
   * The documents that satisfy the filter; the caller's own copy. Answered at once when all that it needs is in memory.
   * Fails with `invalid` for a property that is not indexed. Yields to the event loop when it is long, and looks at
   * the signal between them.
   */
  matching(filter: ShardFilter, bounds?: WorkBounds): DocumentSet | Promise<DocumentSet>;
  /**
   * The same question about one document after the other, for whoever needs few of many; undefined when only sets answer it
   * or something has to be read. Holds in the iteration of the event loop it was asked for in. Fails as `matching` does.
   */
  test(filter: ShardFilter): DocumentTest | undefined;
  aggregate(aggregation: ShardAggregation, bounds?: WorkBounds): ShardAggregate | Promise<ShardAggregate>;
  /** Of caches, for the process's budget and the metrics. */
  readonly memoryBytes: number;
}
