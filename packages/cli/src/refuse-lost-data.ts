import { access, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type ConfigurationOf, shardsLostWith } from "@shoal/coordinator";
import { ShoalError } from "@shoal/model";
import type { SchemaSnapshot } from "@shoal/rpc";
import type { NodeIdentity } from "@shoal/storage-node";

/**
 * A node registers with a folder of its own before shards are placed on it. Where a new folder meets shards, their data
 * is somewhere else: a volume that is not mounted, a wrong path. Served from there they would be empty, and found empty
 * by everybody. Fails with `invalid` then, unless other nodes have all of it. `configurationOf`: as far as it is known.
 */
export function refuseLostData(
  nodeName: string,
  dataPath: string,
  { classes }: SchemaSnapshot,
  configurationOf: ConfigurationOf = () => undefined,
): void {
  const { length: shardCount } = shardsLostWith(nodeName, classes, configurationOf);
  if (shardCount === 0) return;
  throw new ShoalError(
    "invalid",
    `PERSISTENCE_DATA_PATH '${dataPath}' is a new folder, but node '${nodeName}' has ${shardCount} shards, whose data is ` +
      "not in it: is its volume mounted? CLUSTER_ACCEPT_DATA_LOSS=true lets the node begin with empty ones",
  );
}

/** Whether the data of shards lies in the folder, whosever they are. */
export async function hasShards(dataPath: string): Promise<boolean> {
  const names = await readdir(join(dataPath, "shards")).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === "ENOENT") return [];
    throw thrown;
  });
  return names.length > 0;
}

/** The list of the shards that a node has made, beside their folder (`storage-node/src/made-shards.ts`). */
const SHARD_LIST = "shards.json";

/**
 * A node that once had the list of its shards does not begin without it: it would take those that are missing for new ones.
 * Fails with `dataLoss` then.
 */
export async function refuseLostList(dataPath: string, { hasShardList }: NodeIdentity): Promise<void> {
  if (!hasShardList || (await hasList(dataPath))) return;
  throw new ShoalError(
    "dataLoss",
    `'${join(dataPath, SHARD_LIST)}' is missing: nobody knows without it whether all shards that this node has made are there. ` +
      "Put it back; where the folder 'shards' is whole, one start with CLUSTER_ACCEPT_DATA_LOSS=true makes it anew",
  );
}

export async function hasList(dataPath: string): Promise<boolean> {
  return access(join(dataPath, SHARD_LIST)).then(
    () => true,
    () => false,
  );
}

/** How many shards of all classes a storage node has. */
export function shardsPlacedOn(nodeName: string, { classes }: SchemaSnapshot): number {
  let count = 0;
  for (const { sharding } of classes) {
    for (const { members } of sharding.shards) if (members.includes(nodeName)) count++;
  }
  return count;
}
