import { ShoalError } from "../errors/shoal-error.js";

/** Bounds of the schema: every class costs memory and files on its nodes, every property a part of the GraphQL schema. */
export interface SchemaLimits {
  /** Classes of the whole schema: `SCHEMA_CLASSES_MAX`. */
  readonly classesMax: number;
  /** Properties of one class: `SCHEMA_CLASS_PROPERTIES_MAX`. */
  readonly propertiesPerClassMax: number;
}

/** How many shards all classes may have together, and what says so: a setting, or what a process can hold open. */
export interface ShardLimit {
  readonly max: number;
  readonly reason: string;
}

export const DEFAULT_SCHEMA_LIMITS: SchemaLimits = { classesMax: 1_000, propertiesPerClassMax: 1_000 };

/** No setting allows more properties. */
export const PROPERTIES_PER_CLASS_CAP = 10_000;

function beyond(message: string): ShoalError {
  return new ShoalError("invalid", message);
}

/** Fails with `invalid` when the schema would have too many classes. */
export function checkClassCount(count: number, { classesMax }: SchemaLimits): void {
  if (count <= classesMax) return;
  throw beyond(`the schema would have ${count} classes, at most ${classesMax} are allowed (SCHEMA_CLASSES_MAX)`);
}

/** Fails with `invalid` when the schema would have too many shards: each is a store with files of its own. */
export function checkShardCount(count: number, { max, reason }: ShardLimit): void {
  if (count <= max) return;
  throw beyond(`the schema would have ${count} shards, at most ${max} are allowed (${reason})`);
}

/** Fails with `invalid` when a class would have too many properties. */
export function checkPropertyCount(className: string, count: number, propertiesMax: number): void {
  if (count <= propertiesMax) return;
  throw beyond(
    `class '${className}' would have ${count} properties, at most ${propertiesMax} are allowed ` +
      "(SCHEMA_CLASS_PROPERTIES_MAX)",
  );
}
