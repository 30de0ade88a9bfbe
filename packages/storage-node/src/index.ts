export { ShardFolders } from "./shard-folders.js";
export type { ShardRegistryEvent, ShardRegistryOptions } from "./shard-registry.js";
export { StorageNode } from "./storage-node.js";
