import { initialConfiguration, type ShardConfiguration } from "@shoal/replication";
import type { ShardingState } from "@shoal/sharding";

const known = new WeakMap<ShardingState, ReadonlyMap<string, ShardConfiguration>>();

/**
 * The configurations that the shards of a class were made with, by shard name: what holds for a shard until its first change is in the
 * MetaStore. A shard that is not in it has no copies.
 */
export function initialConfigurations(sharding: ShardingState): ReadonlyMap<string, ShardConfiguration> {
  let initial = known.get(sharding);
  if (initial === undefined) {
    const copied = sharding.shards.flatMap(({ name, copies }) => (copies === undefined ? [] : [{ name, copies }]));
    initial = new Map(copied.map(({ name, copies }) => [name, initialConfiguration(copies)]));
    known.set(sharding, initial);
  }
  return initial;
}
