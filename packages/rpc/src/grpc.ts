export { CONNECTIONS_MAX, listenForPeers } from "./far/listen-for-peers.js";
export { createRpcServer, type RpcServer, type RpcServerOptions, type RpcServices } from "./far/rpc-server.js";
export type { ServedNode } from "./far/shard-far-side.js";
export type { ShardServingLimits } from "./far/shard-serving.js";
export {
  type ConnectCoordinatorOptions,
  type CoordinatorConnection,
  connectCoordinator,
} from "./near/connect-coordinator.js";
export { findNodeAt } from "./near/find-node-at.js";
export type { ConnectNodeOptions, NodeConnectionLimits } from "./near/node-channel.js";
export { connectNode } from "./near/remote-node.js";
