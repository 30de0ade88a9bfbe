import type { RequestContext } from "@shoal/runtime";
import { type AnyShardMethod, shardOf } from "../shard-methods.js";
import type { FrameStream } from "../stream/frame-stream.js";
import { deadlineError } from "../stream/message-head.js";
import type { ByteReader } from "../wire/byte-reader.js";

/** One request to a node, until it is answered or given up. */
export class PendingRequest {
  readonly context: RequestContext;
  readonly response: Promise<unknown>;
  /** The stream that it is sent over; undefined while it waits for room. */
  stream: FrameStream | undefined;
  readonly method: AnyShardMethod;
  readonly args: readonly unknown[];
  readonly #hasRows: boolean;
  #wasLookedAt = false;
  #resolve: (response: unknown) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(method: AnyShardMethod, args: readonly unknown[], context: RequestContext) {
    this.method = method;
    this.args = args;
    this.context = context;
    this.#hasRows = context.rowBytes !== undefined && method.hasRows(...args);
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  describe(nodeName: string): string {
    return describeTarget(this.method, this.args, nodeName);
  }

  /**
   * Why nobody waits for it any more, once that is so. Its signal is asked for from the second look on: asking makes it, and
   * most requests are answered by then.
   */
  abortReason(now: number, nodeName: string): unknown {
    if (this.context.deadline <= now) return deadlineError(this.describe(nodeName));
    const signal = this.#wasLookedAt ? this.context.signal : undefined;
    this.#wasLookedAt = true;
    return signal?.aborted ? signal.reason : undefined;
  }

  /** Counts what has arrived. Fails when there is no room for the response. */
  hold(bytes: number): void {
    if (this.#hasRows) this.context.rowBytes?.add(bytes, "rows");
  }

  resolve(reader: ByteReader): void {
    const response = this.method.response(reader, undefined, this.args);
    reader.end();
    const bytes = this.method.aggregateBytes?.(response);
    if (bytes !== undefined) this.context.rowBytes?.add(bytes, "aggregation");
    this.#resolve(response);
  }

  reject(error: unknown): void {
    this.#reject(error);
  }
}

/** What messages call the target of a request: the shard where there is one, and the node. */
export function describeTarget(method: AnyShardMethod, args: readonly unknown[], nodeName: string): string {
  const shard = shardOf(method, args);
  if (shard === undefined) return `node '${nodeName}'`;
  return `shard '${shard.shardName}' of class '${shard.className}' on node '${nodeName}'`;
}
