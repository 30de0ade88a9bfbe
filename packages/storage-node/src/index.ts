export { nodeIdentity } from "./node-identity.js";
export { ShardFolders } from "./shard-folders.js";
export type { OpenedShard, ShardRegistryEvent, ShardRegistryOptions } from "./shard-registry.js";
export { StorageNode } from "./storage-node.js";
