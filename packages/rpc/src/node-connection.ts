import type { ShardService } from "./shard-service.js";

/**
 * `ready`: requests are sent. `draining`: the node has announced its end; nothing is sent any more. `connecting` before the
 * first connection, `unreachable` after one was lost; the client goes on trying by itself.
 */
export type ConnectionState = "connecting" | "ready" | "draining" | "unreachable";

/**
 * The client of a storage node in another process. A request that got no answer fails with `unavailable`, marked by
 * `undelivered`; while the connection is not `ready` it fails at once, as `never` executed.
 */
export interface NodeConnection extends ShardService, Disposable {
  /** Of the node; its certificate proves it. */
  readonly name: string;
  readonly state: ConnectionState;
  /** Called after every change of the state. */
  onState(listener: (state: ConnectionState) => void): Disposable;
}
