import { Metadata } from "@grpc/grpc-js";
import type { NodeMessage } from "../copy-service.js";
import type { ConnectionState } from "../node-connection.js";
import type { PeerConnection } from "../peer-connection.js";
import { REQUEST_MESSAGE } from "../stream/frame-sender.js";
import { clientCredentials } from "../tls/credentials.js";
import type { TlsSource } from "../tls/tls-source.js";
import { ByteWriter } from "../wire/byte-writer.js";
import { nodeMessage } from "../wire/copy-codec.js";
import { PEERS } from "../wire/packet-codec.js";
import { CLUSTER_ID, NODE_NAME } from "../wire/status-codec.js";
import { KeptLink } from "./kept-link.js";
import { NODE_LIMITS, type NodeConnectionLimits } from "./node-link.js";
import { NodeStreams } from "./node-streams.js";

const IN_FLIGHT_MAX = 1024 * 1024;
/**
 * Heartbeats have a stream of their own, the first, over which the link is watched, too: neither it nor the leases must end because
 * thousands of shards have something to say.
 */
const HEARTBEATS_IN_FLIGHT_MAX = 64 * 1024;
/** Numbers of messages are below it, as packets have 32 bits for them. */
const NUMBER_END = 2 ** 32;

/** `unsentBytesMax`: beyond it messages are lost. */
export type PeerConnectionLimits = Omit<NodeConnectionLimits, "requestsMax">;

export interface ConnectPeerOptions {
  /** The node of this process. */
  readonly from: string;
  /** Plain text when undefined. */
  readonly tls?: TlsSource | undefined;
  /** The cluster that this process belongs to, as far as it knows; a node of another one refuses it. */
  readonly clusterId?: () => string | undefined;
  readonly limits?: Partial<PeerConnectionLimits>;
}

class PeerChannel implements PeerConnection {
  readonly name: string;
  readonly #limits: PeerConnectionLimits;
  readonly #kept: KeptLink<NodeStreams>;
  #number = 0;

  constructor(name: string, address: string, { from, tls, clusterId, limits }: ConnectPeerOptions) {
    this.name = name;
    this.#limits = { ...NODE_LIMITS, ...limits };
    const { messageBytesMax, connectTimeoutMs } = this.#limits;
    this.#kept = new KeptLink((events) => {
      const metadata = new Metadata();
      metadata.set(NODE_NAME, from);
      const cluster = clusterId?.();
      if (cluster !== undefined) metadata.set(CLUSTER_ID, cluster);
      return new NodeStreams({
        name,
        address,
        credentials: clientCredentials(tls, name),
        messageBytesMax,
        connectTimeoutMs,
        method: PEERS.Deliver,
        metadata,
        bytesInFlightMax: [HEARTBEATS_IN_FLIGHT_MAX, IN_FLIGHT_MAX],
        // A client waits for each commit and each response to it.
        isPrompt: true,
        ...events,
      });
    });
  }

  get state(): ConnectionState {
    return this.#kept.state;
  }

  get reason(): string {
    return this.#kept.reason;
  }

  send(message: NodeMessage): boolean {
    const isHeartbeat = message.type === "heartbeat";
    const sender = this.#kept.ready?.streams[isHeartbeat ? 0 : 1]?.sender;
    if (sender === undefined) return false;
    const { messageBytesMax, unsentBytesMax } = this.#limits;
    const { unsentBytes } = sender;
    if (!isHeartbeat && unsentBytes >= unsentBytesMax) return false;
    const bytes = ByteWriter.bytesOf((writer) => nodeMessage(writer, message));
    if (bytes.length > messageBytesMax) return false;
    // One that is larger than all that may be on its way goes alone.
    if (!isHeartbeat && unsentBytes > 0 && unsentBytes + bytes.length > unsentBytesMax) return false;
    this.#number = (this.#number + 1) % NUMBER_END;
    sender.send(this.#number, REQUEST_MESSAGE, bytes);
    return true;
  }

  [Symbol.dispose](): void {
    this.#kept[Symbol.dispose]();
  }
}

/**
 * Connects at once to storage node `name`, which must answer at `address` (`host:port`), and again whenever the connection breaks,
 * until it is disposed of.
 */
export function connectPeer(name: string, address: string, options: ConnectPeerOptions): PeerConnection {
  return new PeerChannel(name, address, options);
}
