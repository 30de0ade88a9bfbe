export {
  type ConnectCoordinatorOptions,
  type CoordinatorConnection,
  connectCoordinator,
} from "./client/connect-coordinator.js";
export { findNodeAt } from "./client/find-node-at.js";
export { type ConnectNodeOptions, connectNode } from "./client/node-channel.js";
export type { NodeConnectionLimits } from "./client/node-link.js";
export { type ConnectPeerOptions, connectPeer, type PeerConnectionLimits } from "./client/peer-channel.js";
export { CONNECTIONS_MAX, listenForPeers } from "./server/listen-for-peers.js";
export { createRpcServer, type RpcServer, type RpcServerOptions, type RpcServices } from "./server/rpc-server.js";
export type { ServedNode, ShardServingLimits } from "./server/shard-server.js";
