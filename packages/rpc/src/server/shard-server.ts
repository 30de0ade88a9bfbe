import { ShoalError } from "@shoal/model";
import { type Budget, ByteBudget, type RequestContext } from "@shoal/runtime";
import { deliveryOf, undelivered } from "../delivery.js";
import { type AnyShardMethod, callService, SHARD_METHODS } from "../shard-methods.js";
import type { ShardService } from "../shard-service.js";
import { ANSWER_MESSAGE } from "../stream/frame-sender.js";
import { FrameStream, type PacketStream } from "../stream/frame-stream.js";
import { failure, hello, type RequestHead, requestHead } from "../stream/message-head.js";
import { ByteReader, unreadable } from "../wire/byte-reader.js";
import { ByteWriter, STEP_BYTES } from "../wire/byte-writer.js";
import { FrameKind, type WireFrame } from "../wire/packet-codec.js";
import { RunningRequest, type RunningRequests } from "./running-requests.js";

/** A storage node as it is served. */
export interface ServedNode extends ShardService {
  readonly name: string;
  /** The version of the schema that the node follows. */
  readonly schemaVersion: number;
  /** Called before a request is served that was planned with that version; resolves when the node follows it. */
  atSchemaVersion(version: number, context: RequestContext): Promise<void> | undefined;
}

export interface ShardServingLimits {
  /** Of a request and of a response. */
  readonly messageBytesMax: number;
  /** Of one stream, received and not answered, or answered and not sent: it is not read on. */
  readonly heldBytesMax: number;
  /** What the rows of one response take. */
  readonly answerBytesMax: number;
  /** What the rows of all responses take. */
  readonly answersBytesMax: number;
  /** Under way of one stream. */
  readonly requestsMax: number;
}

export interface ShardServerOptions extends ShardServingLimits {
  /** Of this stream among all. */
  readonly number: number;
  readonly node: ServedNode;
  readonly running: RunningRequests;
  /** What all responses of the node hold. */
  readonly responses: ByteBudget;
  readonly now: () => number;
  /** Of requests of all callers of which not everything has come. */
  readonly unfinished: Budget;
  /** Grows with each part of such a request. */
  readonly partOrder: () => number;
  readonly isDraining: () => boolean;
  readonly onEnd: (server: ShardServer) => void;
}

const METHOD_OF_CODE = new Map(SHARD_METHODS.map((method) => [method.code, method]));

const IN_FLIGHT_MAX = 1024 * 1024;

/** The server of one stream of one caller. */
export class ShardServer {
  readonly #options: ShardServerOptions;
  readonly #stream: FrameStream;
  /** By what the caller calls them: their numbers among all that the node serves, as a Map would keep requests alive. */
  readonly #running = new Map<number, number>();
  #requestBytes = 0;
  #isPaused = false;

  constructor(call: PacketStream, options: ShardServerOptions) {
    this.#options = options;
    const { node, messageBytesMax } = options;
    this.#stream = new FrameStream(call, {
      bytesInFlightMax: IN_FLIGHT_MAX,
      messageBytesMax,
      unfinished: {
        budget: options.unfinished,
        share: { owner: `stream ${options.number}`, connection: 0 },
        order: options.partOrder,
        onCutOff: (request) => this.#refuseUnfinished(request),
      },
      onFrame: (frame) => this.#onFrame(frame),
      onEnd: () => this.#onEnd(),
      onRoom: () => this.#pace(),
    });
    // Before the greeting: whoever has been greeted knows.
    if (options.isDraining()) this.announceDrain();
    const { name: nodeName, schemaVersion } = node;
    const greeting = ByteWriter.bytesOf((writer) => hello(writer, { nodeName, schemaVersion }));
    this.#stream.sender.signal(0, FrameKind.HELLO, greeting);
  }

  announceDrain(): void {
    this.#stream.sender.signal(0, FrameKind.DRAINING);
  }

  get unsentBytes(): number {
    return this.#stream.sender.unsentBytes;
  }

  end(): void {
    this.#stream.end(undefined);
  }

  #onFrame({ request, kind, payload }: WireFrame): void {
    switch (kind) {
      case FrameKind.REQUEST_PART:
        this.#stream.assembler.add(request, payload);
        return;
      case FrameKind.REQUEST: {
        const message = this.#stream.assembler.complete(request, payload);
        if (message !== undefined) this.#begin(request, message);
        return;
      }
      case FrameKind.CANCEL:
        this.#stream.assembler.forget(request);
        this.#cancel(request);
        return;
      case FrameKind.PING:
        this.#stream.sender.signal(0, FrameKind.PONG);
        return;
      case FrameKind.PONG:
        return;
      default:
        throw unreadable(`a caller does not send frames of kind ${kind}`);
    }
  }

  /** Others needed the memory of a request that was not complete. */
  #refuseUnfinished(id: number): void {
    const { node, unfinished } = this.#options;
    const text = `node '${node.name}' holds ${unfinished.max} bytes of requests that are not complete (INTERNAL_MESSAGE_BYTES_MAX)`;
    this.#sendFailure(id, new ShoalError("overloaded", text, { retryAfterSeconds: 1 }));
  }

  #begin(id: number, message: Buffer): void {
    if (this.#running.has(id)) throw unreadable(`request ${id} is under way already`);
    const { now, isDraining, running, requestsMax } = this.#options;
    const reader = new ByteReader(message);
    let head: RequestHead;
    try {
      head = requestHead(reader);
      if (isDraining()) throw new ShoalError("unavailable", "it is being stopped", { retryAfterSeconds: 1 });
      if (this.#running.size >= requestsMax) {
        const text = `node '${this.#options.node.name}' has ${requestsMax} requests of one caller under way`;
        throw new ShoalError("overloaded", text, { retryAfterSeconds: 1 });
      }
    } catch (error) {
      this.#sendFailure(id, turnedAway(error));
      return;
    }
    const deadline = head.timeoutMs === undefined ? Number.POSITIVE_INFINITY : now() + head.timeoutMs;
    const request = new RunningRequest({ deadline, requestId: head.requestId }, (reason) => {
      if (this.#isAwaited(id, request)) this.#sendFailure(id, reason);
      this.#running.delete(id);
      // Work that goes on unheeded holds up no drain.
      running.end(request);
    });
    running.begin(request);
    this.#running.set(id, request.number);
    this.#requestBytes += message.length;
    this.#pace();
    void this.#serve(id, request, head, reader);
  }

  async #serve(id: number, running: RunningRequest, head: RequestHead, reader: ByteReader): Promise<void> {
    const bytesOfMessage = reader.length;
    const { node, responses, answerBytesMax } = this.#options;
    const bytes = new ByteBudget({ max: answerBytesMax, parent: responses, fullError: this.#responseTooLarge });
    running.rowBytes = bytes;
    let isBegun = false;
    try {
      const method = METHOD_OF_CODE.get(head.method);
      if (method === undefined) throw unreadable(`there is no method ${head.method}`);
      // `await` for long ones only: an iteration of the event loop is much for a small one.
      const isLong = bytesOfMessage > STEP_BYTES;
      const args = isLong ? await reader.inSteps(method.request) : method.request(reader);
      reader.end();
      const behind = node.atSchemaVersion(head.schemaVersion, running);
      if (behind !== undefined) await behind;
      if (running.isAborted) return;
      isBegun = true;
      const response = await callService(node, method, args, running);
      if (this.#isAwaited(id, running)) this.#sendResponse(id, method, args, response);
    } catch (thrown) {
      if (this.#isAwaited(id, running)) this.#sendFailure(id, isBegun ? thrown : turnedAway(thrown));
    } finally {
      bytes.close();
      this.#end(id, running, bytesOfMessage);
    }
  }

  readonly #responseTooLarge = (): ShoalError => {
    const text = `an answer of a node takes more than ${this.#options.answerBytesMax} bytes (INTERNAL_MESSAGE_BYTES_MAX)`;
    return new ShoalError("tooLarge", text);
  };

  #end(id: number, request: RunningRequest, bytesOfMessage: number): void {
    if (this.#isAwaited(id, request)) this.#running.delete(id);
    this.#options.running.end(request);
    this.#requestBytes -= bytesOfMessage;
    this.#pace();
  }

  /** Whether somebody still waits for its response. Work that does not look at its signal goes on without. */
  #isAwaited(id: number, request: RunningRequest): boolean {
    return this.#running.get(id) === request.number;
  }

  #cancel(id: number): void {
    const number = this.#running.get(id);
    if (number === undefined) return;
    this.#running.delete(id);
    this.#options.running.get(number)?.abort(new ShoalError("deadlineExceeded", "nobody waits for it any more"));
  }

  #sendResponse(id: number, method: AnyShardMethod, args: readonly unknown[], response: unknown): void {
    const { node, messageBytesMax } = this.#options;
    const message = ByteWriter.bytesOf((writer) => {
      writer.count(node.schemaVersion);
      method.response(writer, response, args);
    });
    if (message.length > messageBytesMax) {
      const text = `an answer of node '${node.name}' has ${message.length} bytes, at most ${messageBytesMax} are sent (INTERNAL_MESSAGE_BYTES_MAX)`;
      throw new ShoalError("tooLarge", text);
    }
    this.#stream.sender.send(id, ANSWER_MESSAGE, message);
  }

  #sendFailure(id: number, thrown: unknown): void {
    const error = ShoalError.from(thrown);
    const { schemaVersion } = this.#options.node;
    const isUntouched = deliveryOf(error) === "never";
    const message = ByteWriter.bytesOf((writer) => failure(writer, { schemaVersion, isUntouched, error }));
    this.#stream.sender.signal(id, FrameKind.FAILURE, message);
  }

  /** What is held is bounded by not reading on. */
  #pace(): void {
    const isFull = this.#requestBytes + this.#stream.sender.unsentBytes > this.#options.heldBytesMax;
    if (isFull === this.#isPaused) return;
    this.#isPaused = isFull;
    if (isFull) this.#stream.pause();
    else this.#stream.resume();
  }

  #onEnd(): void {
    const numbers = [...this.#running.values()];
    this.#running.clear();
    for (const number of numbers) {
      this.#options.running.get(number)?.abort(new ShoalError("unavailable", "the caller is gone"));
    }
    this.#options.onEnd(this);
  }
}

/** What was not begun for a reason that may pass can be asked again. */
function turnedAway(thrown: unknown): ShoalError {
  const error = ShoalError.from(thrown);
  return error.code === "unavailable" ? undelivered(error, "never") : error;
}
