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

/** Longest description of a class or a property. */
export const DESCRIPTION_CHARS_MAX = 64 * 1024;

/** Largest schema, as JSON: every process of a cluster keeps it, sends it and writes it whole, in one go, whenever a class changes. */
export const SCHEMA_CHARS_MAX = 16 * 1024 * 1024;

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

/** Fails with `invalid` when a description is too long. `of`: what is described. */
export function checkDescription(description: string | undefined, of: string): void {
  const { length = 0 } = description ?? "";
  if (length <= DESCRIPTION_CHARS_MAX) return;
  throw beyond(`the description of ${of} has ${length} characters, at most ${DESCRIPTION_CHARS_MAX} are allowed`);
}

/** Fails with `invalid` when the schema would be too large, as JSON, by a class of so many characters. */
export function checkSchemaSize(chars: number, className: string, classChars: number): void {
  if (chars <= SCHEMA_CHARS_MAX) return;
  throw beyond(
    `the schema would have ${chars} characters as JSON, at most ${SCHEMA_CHARS_MAX} are allowed; class '${className}' would have ` +
      `${classChars} of them: shorten its descriptions or its moduleConfig, or make fewer properties`,
  );
}
