export { type CopyPlace, WAY_OUT_OF_COPY } from "./copies/copy-place.js";
export { NodeCopies } from "./copies/node-copies.js";
export type { NodeCopiesOptions } from "./copies/node-copies-options.js";
export { type Peer, Peers } from "./copies/peers.js";
export type { ReplicaEvent } from "./copies/replica-event.js";
export type { ShardReplica } from "./copies/shard-replica.js";
export type { DropConfirmationOptions } from "./drop-confirmation.js";
export { findNodeIdentity, keepNodeIdentity, type NodeIdentity } from "./node-identity.js";
export { openMadeShard } from "./open-made-shard.js";
export type { OpenedShard } from "./opened-shard.js";
export { RoomMaker } from "./room-maker.js";
export { rowsFolder, ShardFolders } from "./shard-folders.js";
export {
  type ShardRegistryEvent,
  type ShardRegistryOptions,
  shardSettings,
} from "./shard-registry.js";
export { type FollowedSchema, StorageNode } from "./storage-node.js";
