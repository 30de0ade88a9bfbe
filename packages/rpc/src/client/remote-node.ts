import type { NodeConnection } from "../node-connection.js";
import { type CarryCall, shardServiceBy } from "../shard-methods.js";
import { type ConnectNodeOptions, NodeChannel } from "./node-channel.js";

/**
 * Connects at once, and again whenever the connection breaks, until it is disposed of; what is under way then fails with
 * `unavailable`. `name` is the node that must answer at `address` (`host:port`).
 */
export function connectNode(name: string, address: string, options: ConnectNodeOptions): NodeConnection {
  const channel = new NodeChannel(name, address, options);
  const carry: CarryCall = (method, args, context) => channel.ask(method, args, context);
  return {
    name,
    get state() {
      return channel.state;
    },
    onState: (listener) => channel.onState(listener),
    carry,
    ...shardServiceBy(carry),
    [Symbol.dispose]: () => channel[Symbol.dispose](),
  };
}
