import type { Json } from "@shoal/model";
import { copiesOf, initialConfiguration, nodeOf, type ShardConfiguration } from "@shoal/replication";
import type { ClassRecord, ShardKey } from "@shoal/rpc";
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

/**
 * The key of the ids of classes that were restored without the configurations of their shards. What such a shard was made with is long
 * over: a copy that took it for true could pass for the primary, without what was acknowledged since.
 */
const LOST_KEY = "copiesLost";

/** What says so of classes that are restored. */
export function putLostConfigurations(classes: readonly ClassRecord[]): readonly MetaChange[] {
  const copied = classes.filter(({ sharding }) => sharding.shards.some(({ copies }) => copies !== undefined));
  return copied.length === 0 ? [] : [{ key: LOST_KEY, value: copied.map(({ classId }) => classId) }];
}

/** Whether nobody knows who holds that shard: its class was restored, and its configuration has not been. */
export function isLost({ entries }: MetaState, classId: string, shardName: string): boolean {
  const lost = (entries.get(LOST_KEY) ?? []) as readonly string[];
  return lost.includes(classId) && !entries.has(`${COPIES_PREFIX}${classId}/${shardName}`);
}

export function putConfiguration(shard: ShardKey, configuration: ShardConfiguration): MetaChange {
  return { key: COPIES_PREFIX + shard, value: configuration as unknown as Json };
}
