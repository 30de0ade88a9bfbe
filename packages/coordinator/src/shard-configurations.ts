import type { Json } from "@shoal/model";
import { copiesOf, initialConfiguration, nodeOf, type ShardConfiguration } from "@shoal/replication";
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

/** The nodes that have the shard: where its copies are now, or where it was placed. */
export function nodesOf(state: MetaState, classId: string, shard: PhysicalShard): readonly string[] {
  const configuration = configurationIn(state, classId, shard);
  return configuration === undefined ? shard.members : copiesOf(configuration).map(nodeOf);
}

export function putConfiguration(shard: ShardKey, configuration: ShardConfiguration): MetaChange {
  return { key: COPIES_PREFIX + shard, value: configuration as unknown as Json };
}
