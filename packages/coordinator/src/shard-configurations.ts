import type { Json } from "@shoal/model";
import { initialConfiguration, type ShardConfiguration } from "@shoal/replication";
import type { ShardKey } from "@shoal/rpc";
import type { PhysicalShard } from "@shoal/sharding";
import type { MetaChange, MetaState } from "./meta-store.js";

/** Prefix of the keys under which the configurations of shards stand from their first change on, by class id and shard. */
export const COPIES_PREFIX = "copies/";

/** The configuration of a shard of that class; undefined: it has no copies. */
export function configurationIn(
  { entries }: MetaState,
  classId: string,
  { name, copies }: PhysicalShard,
): ShardConfiguration | undefined {
  if (copies === undefined) return undefined;
  const stored = entries.get(`${COPIES_PREFIX}${classId}/${name}`) as ShardConfiguration | undefined;
  return stored ?? initialConfiguration(copies);
}

export function putConfiguration(shard: ShardKey, configuration: ShardConfiguration): MetaChange {
  return { key: COPIES_PREFIX + shard, value: configuration as unknown as Json };
}
