import type { ShardKey } from "./copy-service.js";
import type { ShardAddress } from "./shard-service.js";

export function shardKeyOf({ classId, shardName }: ShardAddress): ShardKey {
  return `${classId}/${shardName}`;
}

/** As messages name a shard. */
export function shardPlaceOf({ shardName, className }: ShardAddress): string {
  return `shard ${shardName} of class '${className}'`;
}
