import type { Properties } from "./data-object.js";
import type { JsonObject } from "./json.js";
import type { ObjectId } from "./object-id.js";

/**
 * How a put treats an object that exists or not.
 * - `create`: fails with `conflict` when the id is taken.
 * - `replace`: fails with `notFound` when it is not there; the creation time survives.
 * - `upsert`: either; the creation time is new (batch import replaces an object completely).
 */
export type PutMode = "create" | "replace" | "upsert";

/** Milliseconds since 1970. */
export interface PutTimes {
  readonly creationTimeUnix: number;
  readonly lastUpdateTimeUnix: number;
}

/** A change of parts of an object. What is not named stays. */
export interface ObjectMerge {
  readonly id: ObjectId;
  /** Properties whose values are replaced. */
  readonly set: Properties;
  /** Properties that are removed. */
  readonly clear: readonly string[];
  /** Reference lists that are appended to; a missing one is begun. */
  readonly append: Readonly<Record<string, readonly JsonObject[]>>;
  /**
   * Reference lists out of which, for each id, the first reference to it is taken, if there is one; a missing list
   * becomes an empty one. After everything else.
   */
  readonly remove: Readonly<Record<string, readonly ObjectId[]>>;
  readonly vector: Float32Array | undefined;
  /** Members of what is stored under `additional` that are replaced; the others stay. None when absent. */
  readonly additional?: JsonObject;
  /** The merge is refused with `conflict` unless these have no value, or an empty list, when it is done. None when absent. */
  readonly ifEmpty?: readonly string[];
}
