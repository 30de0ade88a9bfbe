import type { Json, ObjectId } from "@shoal/model";
import type { MemoryRow } from "@shoal/rpc/testing/memory-shards";

/** An object of a test: what a shard would store. */
export interface MemoryObject {
  readonly className: string;
  readonly id: ObjectId;
  readonly creationTimeUnix: number;
  readonly vector: Float32Array | undefined;
  readonly properties?: Readonly<Record<string, Json>>;
}

export function toRow({ id, className, creationTimeUnix, vector, properties }: MemoryObject): MemoryRow {
  const times = { creationTimeUnix, lastUpdateTimeUnix: creationTimeUnix };
  return { object: { id, className, properties, vector, extras: undefined }, times };
}
