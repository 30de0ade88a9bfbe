import type { DataObject, ObjectMerge, PutMode } from "@shoal/model";
import type { ShardAddress, ShardService } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";

/** A request to a node, as much of it as whoever repeats it has to know. */
export interface NodeRequest<T> {
  /** Asks `node`, for as long as `context` says. */
  readonly run: (node: ShardService, context: RequestContext) => Promise<T>;
  readonly context: RequestContext;
  /** Undefined: it is about the node. */
  readonly shard: ShardAddress | undefined;
  /** Whether a request that may have been carried out may be sent again. */
  readonly isRepeatable: boolean;
  /** What it would write, for the bound of what waits. Asked for only when it has to wait. */
  readonly bytes: () => number;
}

/**
 * Of objects that are put, `upsert` and `replace` leave the same behind however often they are done, and tell the same
 * unless somebody else deleted the object meanwhile, which may as well have come first. A creation that is done twice
 * refuses its own id.
 */
export function isRepeatablePut(mode: PutMode): boolean {
  return mode !== "create";
}

/** Whether values are set and nothing else: a reference that is added or taken away twice is one too many. */
export function isRepeatableMerge({ append, remove }: Pick<ObjectMerge, "append" | "remove">): boolean {
  return isEmpty(append) && isEmpty(remove);
}

function isEmpty(members: object): boolean {
  for (const _ in members) return false;
  return true;
}

/** About so much memory do objects take that wait to be written. */
export function bytesOfObjects(objects: readonly DataObject[]): number {
  return objects.reduce(
    (sum, { vector, properties, extras }) => sum + (vector?.byteLength ?? 0) + bytesOf(properties) + bytesOf(extras),
    0,
  );
}

export function bytesOfMerge({ set, append, remove, vector }: ObjectMerge): number {
  return (vector?.byteLength ?? 0) + bytesOf(set) + bytesOf(append) + bytesOf(remove);
}

const BYTES_OF_VALUE = 16;

function bytesOf(value: unknown): number {
  if (typeof value === "string") return BYTES_OF_VALUE + 2 * value.length;
  if (typeof value !== "object" || value === null) return BYTES_OF_VALUE;
  if (ArrayBuffer.isView(value)) return BYTES_OF_VALUE + value.byteLength;
  return Object.values(value).reduce<number>((sum, member) => sum + bytesOf(member), BYTES_OF_VALUE);
}
