import { bytesOfAggregate } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { ShardAddress } from "../shard-service.js";
import type { FrameStream } from "../stream/frame-stream.js";
import { deadlineError } from "../stream/message-head.js";
import type { ByteReader } from "../wire/byte-reader.js";
import { AGGREGATE } from "../wire/read-methods.js";
import type { ShardMethod } from "../wire/shard-method.js";

/** One request to a node, until it is answered or given up. */
export class PendingRequest {
  readonly context: RequestContext;
  readonly answer: Promise<unknown>;
  /** The stream that it is sent over; undefined while it waits for room. */
  stream: FrameStream | undefined;
  readonly method: ShardMethod<unknown, unknown>;
  readonly request: unknown;
  readonly #hasRows: boolean;
  #wasLookedAt = false;
  #resolve: (answer: unknown) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;

  constructor(method: ShardMethod<unknown, unknown>, request: unknown, context: RequestContext) {
    this.method = method;
    this.request = request;
    this.context = context;
    this.#hasRows = context.rowBytes !== undefined && method.hasRows(request);
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  describe(nodeName: string): string {
    return describeTarget(this.request, nodeName);
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

  /** Counts what has arrived. Fails when there is no room for the answer. */
  hold(bytes: number): void {
    if (this.#hasRows) this.context.rowBytes?.add(bytes, "rows");
  }

  resolve(reader: ByteReader): void {
    const answer = this.method.readAnswer(reader, this.request);
    reader.end();
    if (this.method.code === AGGREGATE.code) {
      this.context.rowBytes?.add(bytesOfAggregate(answer as Parameters<typeof bytesOfAggregate>[0]), "aggregation");
    }
    this.#resolve(answer);
  }

  reject(error: unknown): void {
    this.#reject(error);
  }
}

/** What messages call the target of a request: the shard where there is one, and the node. */
export function describeTarget(request: unknown, nodeName: string): string {
  const { shard } = (request ?? {}) as { readonly shard?: ShardAddress };
  if (shard === undefined) return `node '${nodeName}'`;
  return `shard '${shard.shardName}' of class '${shard.className}' on node '${nodeName}'`;
}
