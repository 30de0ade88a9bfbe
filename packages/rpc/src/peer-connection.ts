import type { NodeMessage } from "./copy-service.js";
import type { ConnectionState } from "./node-connection.js";

/** The way to another storage node for what copies of shards send each other. Nothing is answered on it. */
export interface PeerConnection extends Disposable {
  /** Of the other node; its certificate proves it. */
  readonly name: string;
  readonly state: ConnectionState;
  /** Why it is not `ready`, for operators; empty when it is. */
  readonly reason: string;
  /**
   * False: the message is lost, as there is no connection, it is too large, or too much is on its way already; heartbeats
   * are so few and small that they go all the same. True says nothing of what becomes of it. Small messages pass large ones.
   */
  send(message: NodeMessage): boolean;
}

/** What a storage node does with the messages of others. */
export interface PeerReceiver {
  /** `from`: the node that sent it; its certificate proves it. The bytes of rows are views of what has come. Must not fail. */
  receive(from: string, message: NodeMessage): void;
}
