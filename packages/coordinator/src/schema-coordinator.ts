import {
  type ClassDefinition,
  checkNewClass,
  checkNewProperty,
  checkPropertyCount,
  checkShardCount,
  extendClass,
  type Json,
  type PropertyDefinition,
  type SchemaLimits,
  type ShardLimit,
  ShoalError,
} from "@shoal/model";
import type { ClassRecord, RequestContext, SchemaService, SchemaSnapshot } from "@shoal/rpc";
import type { ShardingState } from "@shoal/sharding";
import type { MetaChange, MetaStore } from "./meta-store.js";

/** Prefix of the keys under which class records stand in the MetaStore. */
const CLASS_PREFIX = "class/";

export interface SchemaCoordinatorOptions {
  readonly store: MetaStore;
  /** Draws the shards of a new class and places them on the nodes that are known now. */
  readonly createSharding: (definition: ClassDefinition) => ShardingState;
  /** A name that was never given before, fit for a folder. */
  readonly newClassId: () => string;
  /** What the schema may grow to; a stored one that is larger stays as it is. */
  readonly limits: SchemaLimits;
  readonly shardLimit: ShardLimit;
}

/** A class record as stored: `order` keeps the classes in the order of their creation. */
interface StoredClass {
  readonly record: ClassRecord;
  readonly order: number;
}

/** What a change does: the records after it, and the record that is the answer. */
interface SchemaChange<T> {
  readonly changes: readonly MetaChange[];
  readonly answer: T;
}

/** The one writer of the schema: every change is one compare-and-set commit in the MetaStore. */
export class SchemaCoordinator implements SchemaService {
  readonly #options: SchemaCoordinatorOptions;
  readonly #listeners = new Set<(snapshot: SchemaSnapshot) => void>();
  #classes: ReadonlyMap<string, StoredClass>;
  #snapshot: SchemaSnapshot;
  /** Changes of this process run one after the other: only other coordinators make a commit fail. */
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(options: SchemaCoordinatorOptions, revision: number, classes: ReadonlyMap<string, StoredClass>) {
    this.#options = options;
    this.#classes = classes;
    this.#snapshot = snapshotOf(revision, classes);
  }

  static async open(options: SchemaCoordinatorOptions): Promise<SchemaCoordinator> {
    const { revision, entries } = await options.store.load();
    return new SchemaCoordinator(options, revision, readClasses(entries));
  }

  async current(_context: RequestContext): Promise<SchemaSnapshot> {
    return this.#snapshot;
  }

  watch(listener: (snapshot: SchemaSnapshot) => void): Disposable {
    this.#listeners.add(listener);
    listener(this.#snapshot);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  addClass(definition: ClassDefinition, context: RequestContext): Promise<ClassRecord> {
    return this.#change(context, (classes) => this.#newClass(definition, classes));
  }

  ensureClass(definition: ClassDefinition, context: RequestContext): Promise<ClassRecord> {
    return this.#change(context, (classes) => {
      const stored = classes.get(definition.class);
      if (stored === undefined) return this.#newClass(definition, classes);
      return this.#extended(stored, definition.properties ?? [], classes);
    });
  }

  ensureProperties(
    className: string,
    classId: string,
    properties: readonly PropertyDefinition[],
    context: RequestContext,
  ): Promise<ClassRecord> {
    return this.#change(context, (classes) =>
      this.#extended(storedClass(classes, className, classId), properties, classes),
    );
  }

  updateClass(definition: ClassDefinition, expectedVersion: number, context: RequestContext): Promise<ClassRecord> {
    return this.#change(context, (classes) => {
      if (this.#snapshot.version !== expectedVersion) {
        throw new ShoalError(
          "conflict",
          `the schema is at version ${this.#snapshot.version}, the change was made for version ${expectedVersion}`,
        );
      }
      return replaceRecord(storedClass(classes, definition.class), { definition });
    });
  }

  addProperty(className: string, property: PropertyDefinition, context: RequestContext): Promise<ClassRecord> {
    return this.#change(context, (classes) => {
      const stored = storedClass(classes, className);
      const { definition } = stored.record;
      checkNewProperty(className, property, definitionsOf(classes));
      const properties = definition.properties ?? [];
      checkPropertyCount(className, properties.length + 1, this.#options.limits.propertiesPerClassMax);
      return replaceRecord(stored, { definition: { ...definition, properties: [...properties, property] } });
    });
  }

  deleteClass(className: string, context: RequestContext): Promise<void> {
    return this.#change(context, (classes) => {
      storedClass(classes, className);
      return { changes: [{ key: CLASS_PREFIX + className, value: undefined }], answer: undefined };
    });
  }

  async fixDimensions(
    className: string,
    classId: string,
    dimensions: number,
    context: RequestContext,
  ): Promise<number> {
    const known = this.#classes.get(className)?.record;
    if (known?.classId === classId && known.dimensions !== undefined) return known.dimensions;
    const record = await this.#change(context, (classes) => {
      const stored = storedClass(classes, className, classId);
      if (stored.record.dimensions !== undefined) return { changes: [], answer: stored.record };
      return replaceRecord(stored, { dimensions });
    });
    return record.dimensions ?? dimensions;
  }

  #newClass(definition: ClassDefinition, classes: ReadonlyMap<string, StoredClass>): SchemaChange<ClassRecord> {
    checkNewClass(definition, definitionsOf(classes), this.#options.limits);
    const sharding = this.#options.createSharding(definition);
    checkShardCount(shardCount(classes) + sharding.shards.length, this.#options.shardLimit);
    const record: ClassRecord = {
      definition,
      sharding,
      classId: this.#options.newClassId(),
      dimensions: undefined,
    };
    let order = 1;
    for (const stored of classes.values()) order = Math.max(order, stored.order + 1);
    return { changes: [put({ record, order })], answer: record };
  }

  #extended(
    stored: StoredClass,
    properties: readonly PropertyDefinition[],
    classes: ReadonlyMap<string, StoredClass>,
  ): SchemaChange<ClassRecord> {
    const { record } = stored;
    const definition = extendClass(record.definition, properties, definitionsOf(classes), this.#options.limits);
    return definition === record.definition ? { changes: [], answer: record } : replaceRecord(stored, { definition });
  }

  #change<T>(
    context: RequestContext,
    decide: (classes: ReadonlyMap<string, StoredClass>) => SchemaChange<T>,
  ): Promise<T> {
    const changed = this.#turn.then(() => this.#commit(context, decide));
    this.#turn = changed.catch(() => undefined);
    return changed;
  }

  /** Decides on the current schema and commits; decides anew when another writer was faster. */
  async #commit<T>(
    context: RequestContext,
    decide: (classes: ReadonlyMap<string, StoredClass>) => SchemaChange<T>,
  ): Promise<T> {
    for (;;) {
      context.signal?.throwIfAborted();
      const { changes, answer } = decide(this.#classes);
      if (changes.length === 0) return answer;
      const revision = await this.#options.store.commit(this.#snapshot.version, changes);
      if (revision !== undefined && revision === this.#snapshot.version + 1) {
        this.#swap(revision, apply(this.#classes, changes));
        return answer;
      }
      const state = await this.#options.store.load();
      if (state.revision > this.#snapshot.version) this.#swap(state.revision, readClasses(state.entries));
      if (revision !== undefined) return answer;
    }
  }

  #swap(revision: number, classes: ReadonlyMap<string, StoredClass>): void {
    this.#classes = classes;
    this.#snapshot = snapshotOf(revision, classes);
    for (const listener of this.#listeners) listener(this.#snapshot);
  }
}

/** `classId`: the class that is meant; one of the same name that was made later is another one. */
function storedClass(classes: ReadonlyMap<string, StoredClass>, className: string, classId?: string): StoredClass {
  const stored = classes.get(className);
  if (stored === undefined || (classId !== undefined && stored.record.classId !== classId)) {
    throw unknownClass(className);
  }
  return stored;
}

function definitionsOf(classes: ReadonlyMap<string, StoredClass>): readonly ClassDefinition[] {
  return Array.from(classes.values(), ({ record }) => record.definition);
}

function shardCount(classes: ReadonlyMap<string, StoredClass>): number {
  let count = 0;
  for (const { record } of classes.values()) count += record.sharding.shards.length;
  return count;
}

function unknownClass(className: string): ShoalError {
  return new ShoalError("notFound", `could not find class '${className}'`);
}

function replaceRecord(stored: StoredClass, change: Partial<ClassRecord>): SchemaChange<ClassRecord> {
  const record: ClassRecord = { ...stored.record, ...change };
  return { changes: [put({ record, order: stored.order })], answer: record };
}

function put(stored: StoredClass): MetaChange {
  return { key: CLASS_PREFIX + stored.record.definition.class, value: stored as unknown as Json };
}

function apply(
  classes: ReadonlyMap<string, StoredClass>,
  changes: readonly MetaChange[],
): ReadonlyMap<string, StoredClass> {
  const after = new Map(classes);
  for (const { key, value } of changes) {
    const className = key.slice(CLASS_PREFIX.length);
    if (value === undefined) after.delete(className);
    else after.set(className, value as unknown as StoredClass);
  }
  return after;
}

function readClasses(entries: ReadonlyMap<string, Json>): ReadonlyMap<string, StoredClass> {
  const classes = new Map<string, StoredClass>();
  for (const [key, value] of entries) {
    if (!key.startsWith(CLASS_PREFIX)) continue;
    const stored = value as unknown as StoredClass;
    // JSON drops members that are undefined.
    classes.set(key.slice(CLASS_PREFIX.length), {
      ...stored,
      record: { ...stored.record, dimensions: stored.record.dimensions },
    });
  }
  return classes;
}

function snapshotOf(version: number, classes: ReadonlyMap<string, StoredClass>): SchemaSnapshot {
  const ordered = [...classes.values()].sort((a, b) => a.order - b.order);
  return { version, classes: ordered.map(({ record }) => record) };
}
