import { nodeOf, type ShardConfiguration } from "@shoal/replication";
import type { ClassRecord } from "@shoal/rpc";
import type { PhysicalShard } from "@shoal/sharding";

/** Names a shard for operators. */
export interface LostShard {
  readonly className: string;
  readonly shardName: string;
}

/** The configuration of a shard; undefined: it has no copies. */
export type ConfigurationOf = (record: ClassRecord, shard: PhysicalShard) => ShardConfiguration | undefined;

/**
 * The shards that are lost when a node begins with an empty folder: those whose data it has, and of which no other copy is in sync.
 * `isThere`: whether the folder of a copy is there; one of a folder that is lost too saves nothing.
 */
export function shardsLostWith(
  nodeName: string,
  classes: readonly ClassRecord[],
  configurationOf: ConfigurationOf,
  isThere: (copy: string) => boolean = () => true,
): readonly LostShard[] {
  return classes.flatMap((record) =>
    record.sharding.shards
      .filter((shard) => {
        const configuration = configurationOf(record, shard);
        if (configuration === undefined) return shard.members.includes(nodeName);
        const { inSync, eligible } = configuration;
        const has = [...inSync, ...eligible].some((copy) => nodeOf(copy) === nodeName);
        return has && !inSync.some((copy) => nodeOf(copy) !== nodeName && isThere(copy));
      })
      .map(({ name }) => ({ className: record.definition.class, shardName: name })),
  );
}
