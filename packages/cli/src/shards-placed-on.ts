import type { SchemaSnapshot } from "@shoal/rpc";

/** How many shards of all classes a storage node has. */
export function shardsPlacedOn(nodeName: string, { classes }: SchemaSnapshot): number {
  let count = 0;
  for (const { sharding } of classes) {
    for (const { members } of sharding.shards) if (members.includes(nodeName)) count++;
  }
  return count;
}
