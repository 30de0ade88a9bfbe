import type { CarryCall } from "./shard-methods.js";
import type { ShardService } from "./shard-service.js";

/**
 * `ready`: requests are sent. `draining`: the node has announced its end; nothing is sent any more. `connecting` before the
 * first connection, `unreachable` after one was lost; the client goes on trying by itself.
 */
export type ConnectionState = "connecting" | "ready" | "draining" | "unreachable";

/**
 * Carries calls to a storage node in another process. A call that got no response fails with `unavailable`, marked by
 * `undelivered`; while the connection is not `ready` it fails at once, as `never` executed.
 */
export interface NodeCarrier extends Disposable {
  /** Of the node; its certificate proves it. */
  readonly name: string;
  readonly state: ConnectionState;
  readonly carry: CarryCall;
  /**
   * Tries a lost connection at once, unless it was tried just now. Whether an attempt is under way that is worth waiting for:
   * listeners hear of its end. It is not when it began more than a second ago: nobody answers at that address.
   */
  retry(): boolean;
  /** Called after every change of the state, and after an attempt that has failed. */
  onState(listener: (state: ConnectionState) => void): Disposable;
}

/** The client of a storage node in another process. */
export interface NodeConnection extends NodeCarrier, ShardService {}
