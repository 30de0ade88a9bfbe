import type { KeyValueReader } from "@shoal/kv";
import {
  CREATION_TIME_PROPERTY,
  LAST_UPDATE_TIME_PROPERTY,
  type PropertyDefinition,
  type ShardAggregate,
  type ShardAggregation,
  type ShardFilter,
  ShoalError,
} from "@shoal/model";
import type { Work, WorkBounds, Yielder } from "@shoal/runtime";
import { aggregateDocuments } from "./aggregate/aggregate-documents.js";
import type { AggregateSource } from "./aggregate/aggregate-source.js";
import { type IndexedProperty, indexedProperty } from "./analysis/property-kind.js";
import type { DocumentSet } from "./document-set.js";
import { documentTest } from "./filter/document-test.js";
import { checkFilter, evaluateFilter } from "./filter/evaluate-filter.js";
import type { FilterContext } from "./filter/filter-context.js";
import type { IndexKeyPrefixes } from "./index-keys.js";
import type { IndexMemory } from "./index-memory.js";
import { indexYielder } from "./index-yielder.js";
import type { DocumentTest, IndexedChange, InvertedIndex, ObjectDirectory, PlannedChanges } from "./inverted-index.js";
import { LongReads } from "./long-reads.js";
import { memoryOfChanges, planChanges } from "./plan-changes.js";
import { CommitGate } from "./stored/commit-gate.js";
import type { IndexStore } from "./stored/index-store.js";
import { PropertyIndex } from "./stored/property-index.js";

export interface InvertedIndexOptions {
  /** With `shardName`: for messages. */
  readonly className: string;
  readonly shardName: string;
  /** Where the records of the planned batches are written to. */
  readonly store: KeyValueReader;
  /** First bytes of all keys that the index reads and writes. */
  readonly prefixes: IndexKeyPrefixes;
  readonly directory: ObjectDirectory;
  readonly properties: readonly PropertyDefinition[];
  /** Shared by all shards of a process. */
  readonly memory: IndexMemory;
  /** Shared by all shards of a process; absent: of this one alone. */
  readonly longReads?: LongReads | undefined;
  /** Whether the store has no records of the index yet: then nothing has to be read to know that. */
  readonly isEmpty: boolean;
}

export function createInvertedIndex(options: InvertedIndexOptions): InvertedIndex {
  return new StoredIndex(options);
}

function timeProperty(name: string): IndexedProperty {
  return { name, kind: "number", tokenization: "string", isArray: false };
}

class StoredIndex implements InvertedIndex {
  readonly #store: IndexStore;
  readonly #directory: ObjectDirectory;
  readonly #properties = new Map<string, PropertyIndex>();
  readonly #definitions = new Map<string, PropertyDefinition>();
  readonly #source: AggregateSource;
  readonly #longReads: LongReads;

  constructor(options: InvertedIndexOptions) {
    const { className, shardName, store, prefixes, memory, directory, properties, isEmpty } = options;
    this.#longReads = options.longReads ?? new LongReads();
    this.#store = { reader: store, prefixes, place: { className, shardName }, gate: new CommitGate(), memory };
    this.#directory = directory;
    for (const name of [CREATION_TIME_PROPERTY, LAST_UPDATE_TIME_PROPERTY]) {
      this.#properties.set(name, new PropertyIndex(this.#store, timeProperty(name), isEmpty));
    }
    this.#add(properties, isEmpty);
    this.#source = {
      directory,
      definition: (name) => this.#definitions.get(name),
      matching: (filter, yielder) => this.#evaluate(filter, yielder),
      flags: (property) => this.#cached(property, "flags"),
      tokens: (property) => this.#cached(property, "tokens"),
      wholes: (property) => this.#cached(property, "wholes"),
      column: (property) => this.#cached(property, "numbers"),
    };
  }

  /** Writes with a property wait until it is configured, so the store has nothing of one that comes later. */
  configure(properties: readonly PropertyDefinition[]): void {
    this.#add(properties, true);
  }

  async plan(changes: readonly IndexedChange[], admit?: (bytes: number) => void): Promise<PlannedChanges> {
    if (admit !== undefined) {
      const bytes = memoryOfChanges(this.#store, this.#properties, changes);
      admit(typeof bytes === "number" ? bytes : await bytes);
    }
    const { batch, steps } = await planChanges(this.#store, this.#properties, changes);
    const { gate } = this.#store;
    gate.begin();
    return {
      batch,
      applied: () => {
        for (const step of steps) step();
        gate.end();
      },
      failed: () => {
        for (const index of this.#properties.values()) index.forget();
        gate.end();
      },
    };
  }

  matching(filter: ShardFilter, bounds: WorkBounds = {}): DocumentSet | Promise<DocumentSet> {
    return this.#longReads.filters.run((yielder) => this.#evaluate(filter, yielder), bounds);
  }

  test(filter: ShardFilter): DocumentTest | undefined {
    const context = this.#filterContext(indexYielder());
    checkFilter(context, filter);
    return documentTest(context, filter);
  }

  aggregate(aggregation: ShardAggregation, bounds: WorkBounds = {}): ShardAggregate | Promise<ShardAggregate> {
    const begin = (yielder: Yielder) => aggregateDocuments(this.#source, aggregation, bounds, yielder);
    return this.#longReads.aggregations.run(begin, bounds);
  }

  get memoryBytes(): number {
    let bytes = 0;
    for (const index of this.#properties.values()) bytes += index.memoryBytes;
    return bytes;
  }

  [Symbol.dispose](): void {
    for (const index of this.#properties.values()) index.forget();
  }

  #evaluate(filter: ShardFilter, yielder: Yielder): Work<DocumentSet> {
    return evaluateFilter(this.#filterContext(yielder), filter);
  }

  #filterContext(yielder: Yielder): FilterContext {
    return { properties: this.#properties, directory: this.#directory, yielder };
  }

  #add(properties: readonly PropertyDefinition[], isNew: boolean): void {
    for (const definition of properties) {
      this.#definitions.set(definition.name, definition);
      if (this.#properties.has(definition.name)) continue;
      this.#properties.set(definition.name, new PropertyIndex(this.#store, indexedProperty(definition), isNew));
    }
  }

  *#cached<Part extends "flags" | "tokens" | "wholes" | "numbers">(
    property: IndexedProperty,
    part: Part,
  ): Work<CachedPart<Part>> {
    const postings = this.#properties.get(property.name)?.[part];
    if (postings === undefined) {
      throw new ShoalError("internal", `property '${property.name}' has no ${part} in the index`);
    }
    const slot = postings.slot as { demand(): Work<CachedPart<Part>> };
    return yield* slot.demand();
  }
}

/** What the part of a property holds in memory. */
type CachedPart<Part extends "flags" | "tokens" | "wholes" | "numbers"> =
  NonNullable<PropertyIndex[Part]> extends { readonly slot: { demand(): Work<infer Cached> } } ? Cached : never;
