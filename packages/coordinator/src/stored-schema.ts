import { type ClassDefinition, checkSchemaSize, type Json } from "@shoal/model";
import type { ClassRecord, SchemaSnapshot } from "@shoal/rpc";
import { entriesUnder, type MetaChange, type MetaState } from "./meta-store.js";
import { readDrops } from "./stored-drops.js";
import { clusterIdOf, hasVersion, historyOf, nextVersion, putVersion, versionOf } from "./stored-history.js";

/** Prefix of the keys under which class records stand. */
const CLASS_PREFIX = "class/";

/** A class record as stored: `order` keeps the classes in the order of their creation. */
export interface StoredClass {
  readonly record: ClassRecord;
  readonly order: number;
}

/** The schema in a state of the MetaStore. */
export interface StoredSchema {
  readonly classes: ReadonlyMap<string, StoredClass>;
  readonly snapshot: SchemaSnapshot;
}

/** Classes as they were read, by the value they were read from: one that has not changed stays the same object. */
const readBefore = new WeakMap<object, StoredClass>();

/** `storeId`: of the store. */
export function readSchema(storeId: string, state: MetaState): StoredSchema {
  const classes = new Map<string, StoredClass>();
  for (const [className, value] of entriesUnder(CLASS_PREFIX, state)) classes.set(className, readClass(value));
  const ordered = [...classes.values()].sort((a, b) => a.order - b.order);
  const version = versionOf(state);
  const { historyId, former } = historyOf(storeId, state);
  const drops = readDrops(state);
  const snapshot = {
    historyId,
    version,
    clusterId: clusterIdOf(storeId, state),
    classes: ordered.map(({ record }) => record),
    ...(drops.length > 0 && { drops }),
    ...(former.length > 0 && { former }),
  };
  return { classes, snapshot };
}

/** Whether both have the same schema. */
export function isSameSchema(a: MetaState, b: MetaState): boolean {
  return versionOf(a) === versionOf(b);
}

/** A commit on `state` that changes classes. */
export function schemaChanges(state: MetaState, changes: readonly MetaChange[]): readonly MetaChange[] {
  return [...changes, putVersion(nextVersion(state))];
}

/** A commit on `state` that changes anything else: the schema keeps its version. */
export function otherChanges(state: MetaState, changes: readonly MetaChange[]): readonly MetaChange[] {
  return hasVersion(state) ? changes : [...changes, putVersion(versionOf(state))];
}

/** What definitions take as JSON: of one that does not change it is counted once. */
const charsBefore = new WeakMap<ClassDefinition, number>();

/** Fails with `invalid` when a class would grow beyond what the whole schema may take. One that is larger already may be made smaller. */
export function refuseTooLarge({ classes }: StoredSchema, changes: readonly MetaChange[]): void {
  for (const { key, value } of changes) {
    if (!key.startsWith(CLASS_PREFIX) || value === undefined) continue;
    const { definition } = readClass(value).record;
    const before = classes.get(definition.class)?.record.definition;
    const grown = charsOf(definition) - (before === undefined ? 0 : charsOf(before));
    if (grown <= 0) continue;
    let all = grown;
    for (const { record } of classes.values()) all += charsOf(record.definition);
    checkSchemaSize(all, definition.class, charsOf(definition));
  }
}

function charsOf(definition: ClassDefinition): number {
  const known = charsBefore.get(definition);
  if (known !== undefined) return known;
  const { length } = JSON.stringify(definition);
  charsBefore.set(definition, length);
  return length;
}

export function putClass(stored: StoredClass): MetaChange {
  const value = stored as unknown as Json & object;
  readBefore.set(value, stored);
  return { key: CLASS_PREFIX + stored.record.definition.class, value };
}

export function removeClass(className: string): MetaChange {
  return { key: CLASS_PREFIX + className, value: undefined };
}

export function definitionsOf(classes: ReadonlyMap<string, StoredClass>): readonly ClassDefinition[] {
  return Array.from(classes.values(), ({ record }) => record.definition);
}

export function shardCount(classes: ReadonlyMap<string, StoredClass>): number {
  let count = 0;
  for (const { record } of classes.values()) count += record.sharding.shards.length;
  return count;
}

function readClass(value: Json): StoredClass {
  const stored = value as unknown as StoredClass;
  const known = readBefore.get(stored);
  if (known !== undefined) return known;
  // JSON drops members that are undefined.
  const read = { ...stored, record: { ...stored.record, dimensions: stored.record.dimensions } };
  readBefore.set(stored, read);
  return read;
}
