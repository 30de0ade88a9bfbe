export {
  type ConnectCoordinatorOptions,
  type CoordinatorConnection,
  connectCoordinator,
} from "./client/connect-coordinator.js";
export { findNodeAt } from "./client/find-node-at.js";
export type { ConnectNodeOptions, NodeConnectionLimits } from "./client/node-channel.js";
export { connectNode } from "./client/remote-node.js";
export { CONNECTIONS_MAX, listenForPeers } from "./server/listen-for-peers.js";
export { createRpcServer, type RpcServer, type RpcServerOptions, type RpcServices } from "./server/rpc-server.js";
export type { ServedNode } from "./server/shard-server.js";
export type { ShardServingLimits } from "./server/shard-serving.js";
