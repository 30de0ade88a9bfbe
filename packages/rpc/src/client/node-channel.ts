import { ShoalError } from "@shoal/model";
import { undelivered } from "../delivery.js";
import type { ConnectionState, NodeCarrier, NodeConnection } from "../node-connection.js";
import { type CarryCall, shardServiceBy } from "../shard-methods.js";
import { deadlineError } from "../stream/message-head.js";
import { clientCredentials } from "../tls/credentials.js";
import type { TlsSource } from "../tls/tls-source.js";
import { KeptLink } from "./kept-link.js";
import { NODE_LIMITS, type NodeConnectionLimits, NodeLink } from "./node-link.js";
import { describeTarget } from "./pending-request.js";

export interface ConnectNodeOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** The version of the schema that this process knows: it travels with every request. */
  readonly schemaVersion: () => number;
  /** Called at every response with the version that the node knows. */
  readonly onNodeSchemaVersion?: (version: number) => void;
  /** Plain text when undefined. */
  readonly tls?: TlsSource | undefined;
  readonly limits?: Partial<NodeConnectionLimits>;
}

/** A node, over one link that is kept. */
class NodeChannel implements NodeCarrier {
  readonly name: string;
  readonly #address: string;
  readonly #now: () => number;
  readonly #kept: KeptLink<NodeLink>;

  constructor(name: string, address: string, options: ConnectNodeOptions) {
    const { now, schemaVersion, onNodeSchemaVersion = () => undefined, tls, limits } = options;
    this.name = name;
    this.#address = address;
    this.#now = now;
    this.#kept = new KeptLink(
      (events) =>
        new NodeLink({
          name,
          address,
          credentials: clientCredentials(tls, name),
          now,
          schemaVersion,
          onNodeSchemaVersion,
          ...NODE_LIMITS,
          ...limits,
          ...events,
        }),
    );
  }

  get state(): ConnectionState {
    return this.#kept.state;
  }

  retry(): boolean {
    return this.#kept.retry();
  }

  onState(listener: (state: ConnectionState) => void): Disposable {
    return this.#kept.onState(listener);
  }

  readonly carry: CarryCall = (method, args, context) => {
    // Of a small one the signal is looked at when it has been under way for a while: it need not be made before.
    if (method.isLong !== undefined && context.signal?.aborted) return Promise.reject(context.signal.reason);
    if (context.deadline <= this.#now()) return Promise.reject(deadlineError(describeTarget(method, args, this.name)));
    const link = this.#kept.ready;
    if (link !== undefined) return link.ask(method, args, context);
    const text = `${this.#address}: ${this.#kept.reason}`;
    const error = new ShoalError("unavailable", text, { retryAfterSeconds: 1 });
    return Promise.reject(undelivered(error, "never"));
  };

  [Symbol.dispose](): void {
    this.#kept[Symbol.dispose]();
  }
}

/**
 * Connects at once, and again whenever the connection breaks, until it is disposed of; what is under way then fails with
 * `unavailable`. `name` is the node that must answer at `address` (`host:port`).
 */
export function connectNode(name: string, address: string, options: ConnectNodeOptions): NodeConnection {
  const channel = new NodeChannel(name, address, options);
  return Object.assign(channel, shardServiceBy(channel.carry));
}
