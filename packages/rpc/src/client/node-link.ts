import type { ChannelCredentials } from "@grpc/grpc-js";
import { ShoalError } from "@shoal/model";
import { InFlight, type RequestContext } from "@shoal/runtime";
import { undelivered } from "../delivery.js";
import type { AnyShardMethod } from "../shard-methods.js";
import { REQUEST_MESSAGE } from "../stream/frame-sender.js";
import type { FrameStream } from "../stream/frame-stream.js";
import { failure, type RequestHead, requestHead } from "../stream/message-head.js";
import { ByteReader } from "../wire/byte-reader.js";
import { ByteWriter } from "../wire/byte-writer.js";
import { FrameKind, SHARDS, type WireFrame } from "../wire/packet-codec.js";
import type { LinkEvents } from "./kept-link.js";
import { NodeStreams } from "./node-streams.js";
import { PendingRequest } from "./pending-request.js";

/** Larger requests take the stream for bulk. */
const SMALL_BYTES_MAX = 64 * 1024;
const SMALL_IN_FLIGHT_MAX = 256 * 1024;
const BULK_IN_FLIGHT_MAX = 1024 * 1024;
/** How often is looked who has been given up: a listener for each costs as much as a request. */
const ABORT_TICK_MS = 20;
/** Long requests that are encoded at the same time, in steps. */
const ENCODING_MAX = 4;

export interface NodeConnectionLimits {
  /** Of a request and of a response. */
  readonly messageBytesMax: number;
  /** While more wait to be sent, long requests wait before they are encoded. */
  readonly unsentBytesMax: number;
  /** So many requests may be under way; others are refused. */
  readonly requestsMax: number;
  readonly connectTimeoutMs: number;
}

export const NODE_LIMITS: NodeConnectionLimits = {
  messageBytesMax: 512 * 1024 * 1024,
  unsentBytesMax: 64 * 1024 * 1024,
  requestsMax: 10_000,
  connectTimeoutMs: 2_000,
};

export interface NodeLinkOptions extends NodeConnectionLimits, LinkEvents {
  readonly name: string;
  readonly address: string;
  readonly credentials: ChannelCredentials;
  readonly now: () => number;
  readonly schemaVersion: () => number;
  readonly onNodeSchemaVersion: (version: number) => void;
}

/** The two streams to a node, from the attempt to open them until one of them breaks. */
export class NodeLink {
  readonly #options: NodeLinkOptions;
  readonly #streams: NodeStreams;
  readonly #small: FrameStream;
  readonly #bulk: FrameStream;
  readonly #pending = new InFlight<PendingRequest>();
  /** Requests that are not encoded before there is room, given up ones among them. */
  readonly #waiting: { readonly id: number; readonly pending: PendingRequest }[] = [];
  #encoding = 0;
  #abortTimer: NodeJS.Timeout | undefined;

  constructor(options: NodeLinkOptions) {
    this.#options = options;
    this.#streams = new NodeStreams({
      ...options,
      method: SHARDS.Talk,
      bytesInFlightMax: [SMALL_IN_FLIGHT_MAX, BULK_IN_FLIGHT_MAX],
      onFrame: (stream, frame) => this.#onFrame(stream, frame),
      onRoom: () => this.#beginWaiting(),
      onEnd: (reason) => this.#onEnd(reason),
    });
    [this.#small, this.#bulk] = this.#streams.streams as [FrameStream, FrameStream];
  }

  ask(method: AnyShardMethod, args: readonly unknown[], context: RequestContext): Promise<unknown> {
    const pending = new PendingRequest(method, args, context);
    if (this.#pending.size >= this.#options.requestsMax) {
      const text = `${pending.describe(this.#options.name)}: ${this.#options.requestsMax} requests are under way`;
      return Promise.reject(new ShoalError("overloaded", text, { retryAfterSeconds: 1 }));
    }
    const id = this.#pending.add(pending);
    this.#abortTimer ??= setInterval(() => this.#endAborted(), ABORT_TICK_MS);
    if (this.#isFull && method.isLong?.(...args)) this.#waiting.push({ id, pending });
    else this.#begin(id, pending);
    return pending.response;
  }

  /** Ends the link; what is under way fails with `unavailable`. */
  close(): void {
    this.#streams.close();
  }

  /** Long requests wait before they are encoded. */
  get #isFull(): boolean {
    return this.#encoding >= ENCODING_MAX || this.#bulk.sender.unsentBytes > this.#options.unsentBytesMax;
  }

  #begin(id: number, pending: PendingRequest): void {
    const { method, args } = pending;
    const write = (writer: ByteWriter): void => {
      requestHead(writer, this.#head(method.code, pending.context));
      method.request(writer, args);
    };
    if (!method.isLong?.(...args)) {
      this.#send(id, pending, ByteWriter.bytesOf(write));
      return;
    }
    this.#encoding++;
    ByteWriter.bytesInSteps(write)
      .then(
        (payload) => {
          if (this.#pending.get(id) === pending) this.#send(id, pending, payload);
        },
        (error: unknown) => this.#giveUp(id, pending, error),
      )
      .finally(() => {
        this.#encoding--;
        this.#beginWaiting();
      });
  }

  #send(id: number, pending: PendingRequest, payload: Buffer): void {
    const { method, args } = pending;
    if (payload.length > this.#options.messageBytesMax) {
      const text = `a request to ${pending.describe(this.#options.name)} has ${payload.length} bytes`;
      const most = `at most ${this.#options.messageBytesMax} are sent (INTERNAL_MESSAGE_BYTES_MAX)`;
      this.#pending.remove(id);
      pending.reject(new ShoalError("tooLarge", `${text}, ${most}`));
      return;
    }
    const isBulk = payload.length > SMALL_BYTES_MAX || method.isBulk(...args);
    pending.stream = isBulk ? this.#bulk : this.#small;
    pending.stream.sender.send(id, REQUEST_MESSAGE, payload);
  }

  #head(method: number, { deadline, requestId }: RequestContext): RequestHead {
    const left = deadline - this.#options.now();
    const timeoutMs = left === Number.POSITIVE_INFINITY ? undefined : left;
    return { method, schemaVersion: this.#options.schemaVersion(), timeoutMs, requestId };
  }

  #beginWaiting(): void {
    while (this.#waiting.length > 0 && !this.#isFull) {
      const next = this.#waiting.shift();
      if (next !== undefined && this.#pending.get(next.id) === next.pending) this.#begin(next.id, next.pending);
    }
  }

  #onFrame(stream: FrameStream, { request, kind, payload }: WireFrame): void {
    const pending = this.#pending.get(request);
    // Given up: what still comes of its response is of no use.
    if (pending === undefined || pending.stream !== stream) return;
    try {
      pending.hold(payload.length);
      if (kind === FrameKind.ANSWER_PART) stream.assembler.add(request, payload);
      else {
        const message = stream.assembler.complete(request, payload);
        if (message !== undefined) this.#end(request, pending, kind, message);
      }
    } catch (error) {
      this.#giveUp(request, pending, this.#responseError(pending, error));
    }
  }

  #end(id: number, pending: PendingRequest, kind: number, payload: Buffer): void {
    const reader = new ByteReader(payload);
    if (kind === FrameKind.FAILURE) {
      const { schemaVersion, isUntouched, error } = failure(reader);
      this.#pending.remove(id);
      // The rest of a request that was refused before all of it was there.
      const sender = pending.stream?.sender;
      if (sender?.takeBack(id) === "rest") sender.signal(id, FrameKind.CANCEL);
      this.#options.onNodeSchemaVersion(schemaVersion);
      pending.reject(isUntouched ? undelivered(error, "never") : error);
      return;
    }
    if (kind !== FrameKind.ANSWER) throw new ShoalError("internal", `a node does not send frames of kind ${kind}`);
    const schemaVersion = reader.count();
    pending.resolve(reader);
    this.#pending.remove(id);
    this.#options.onNodeSchemaVersion(schemaVersion);
  }

  #responseError(pending: PendingRequest, thrown: unknown): unknown {
    const error = ShoalError.from(thrown);
    if (error.code !== "internal") return thrown;
    return new ShoalError("internal", `the answer of ${pending.describe(this.#options.name)}: ${error.message}`);
  }

  #endAborted(): void {
    const now = this.#options.now();
    for (const [id, pending] of this.#pending) {
      const reason = pending.abortReason(now, this.#options.name);
      if (reason !== undefined) this.#giveUp(id, pending, reason);
    }
    if (this.#pending.size > 0) return;
    clearInterval(this.#abortTimer);
    this.#abortTimer = undefined;
  }

  /** Nobody waits for the response any more: the server is notified, unless it has not seen the request. */
  #giveUp(id: number, pending: PendingRequest, reason: unknown): void {
    if (this.#pending.get(id) !== pending) return;
    this.#pending.remove(id);
    const { stream } = pending;
    if (stream !== undefined) {
      stream.assembler.forget(id);
      if (stream.sender.takeBack(id) !== "all") stream.sender.signal(id, FrameKind.CANCEL);
    }
    pending.reject(reason);
  }

  #onEnd(reason: string): void {
    clearInterval(this.#abortTimer);
    for (const [id, pending] of this.#pending) {
      const error = new ShoalError("unavailable", `${this.#options.address}: ${reason}`, { retryAfterSeconds: 1 });
      const hasLeft = pending.stream !== undefined && pending.stream.sender.takeBack(id) === "none";
      pending.reject(undelivered(error, hasLeft ? "unknown" : "never"));
    }
    this.#pending.clear();
    this.#options.onEnd(reason);
  }
}
