import type { NodeConnection } from "../node-connection.js";
import { shardServiceBy } from "../shard-methods.js";
import { type ConnectNodeOptions, NodeChannel } from "./node-channel.js";

/**
 * Connects at once, and again whenever the connection breaks, until it is disposed of; what is under way then fails with
 * `unavailable`. `name` is the node that must answer at `address` (`host:port`).
 */
export function connectNode(name: string, address: string, options: ConnectNodeOptions): NodeConnection {
  const channel = new NodeChannel(name, address, options);
  return {
    name,
    get state() {
      return channel.state;
    },
    onState: (listener) => channel.onState(listener),
    ...shardServiceBy((method, args, context) => channel.ask(method, args, context)),
    [Symbol.dispose]: () => channel[Symbol.dispose](),
  };
}
