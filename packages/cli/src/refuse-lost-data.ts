import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ShoalError } from "@shoal/model";
import type { SchemaSnapshot } from "@shoal/rpc";
import { shardsPlacedOn } from "./shards-placed-on.js";

/**
 * A node registers with a folder of its own before shards are placed on it. Where a new folder meets shards, their data
 * is somewhere else: a volume that is not mounted, a wrong path. Served from there they would be empty, and found empty
 * by everybody. Fails with `invalid` then.
 */
export function refuseLostData(nodeName: string, dataPath: string, schema: SchemaSnapshot): void {
  const shardCount = shardsPlacedOn(nodeName, schema);
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
