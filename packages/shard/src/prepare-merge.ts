import { type ObjectId, type ObjectMerge, ShoalError } from "@shoal/model";
import { vectorFault } from "./prepare-put.js";

/** A merge whose values are JSON already. */
export interface PreparedMerge {
  readonly id: ObjectId;
  readonly set: ReadonlyMap<string, string>;
  readonly clear: readonly string[];
  /** Reference lists as JSON. */
  readonly append: ReadonlyMap<string, string>;
  readonly remove: ObjectMerge["remove"];
  readonly vector: Float32Array | undefined;
  readonly additional: ObjectMerge["additional"];
  readonly ifEmpty: readonly string[];
  /** What it counts for in the queue. */
  readonly bytes: number;
}

/** What a merge counts for beside what it carries. */
const MERGE_BYTES = 1_024;
/** What a reference that goes counts for: its id. */
const REMOVED_BYTES = 40;

/** Writes the values while the caller runs, so that a commit has little left to do. An unfit merge is an error. */
export function prepareMerge(merge: ObjectMerge, dimensionsMax: number): PreparedMerge | ShoalError {
  const { id, clear, remove, vector, additional, ifEmpty = [] } = merge;
  const fault = vector === undefined ? undefined : vectorFault(vector, dimensionsMax);
  if (fault !== undefined) return new ShoalError("invalid", `vector of object '${id}' ${fault}`);
  const set = jsonOf(merge.set);
  const append = jsonOf(merge.append);
  let bytes = MERGE_BYTES + (vector?.byteLength ?? 0);
  if (additional !== undefined) bytes += JSON.stringify(additional).length;
  for (const json of set.values()) bytes += json.length;
  for (const json of append.values()) bytes += json.length;
  for (const targets of Object.values(remove)) bytes += targets.length * REMOVED_BYTES;
  return { id, set, clear, append, remove, vector, additional, ifEmpty, bytes };
}

/** A Map: a property may have any name, `__proto__` too. */
function jsonOf(values: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  const json = new Map<string, string>();
  for (const [name, value] of Object.entries(values)) json.set(name, JSON.stringify(value));
  return json;
}
