import type { ShardAddress } from "@shoal/rpc";
import type { OpenedShard } from "./opened-shard.js";
import type { ShardFolders } from "./shard-folders.js";

/**
 * Opens a shard with `open`, which is told whether it was once complete on this node. One that is new is entered durably
 * into the list of those that were, after it is complete on disk and before anybody can write to it.
 */
export async function openMadeShard(
  folders: ShardFolders,
  { classId, shardName }: ShardAddress,
  open: (isMade: boolean) => Promise<OpenedShard>,
): Promise<OpenedShard> {
  const { shard, store } = await open(folders.isMade(classId, shardName));
  try {
    await folders.keepMade(classId, shardName);
    return { shard, store };
  } catch (thrown) {
    await shard[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
    throw thrown;
  }
}
