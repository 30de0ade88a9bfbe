import type { ServerDuplexStream } from "@grpc/grpc-js";
import { Budget } from "@shoal/runtime";
import type { PeerReceiver } from "../peer-connection.js";
import { FrameStream } from "../stream/frame-stream.js";
import { hello } from "../stream/message-head.js";
import { ByteReader, unreadable } from "../wire/byte-reader.js";
import { ByteWriter } from "../wire/byte-writer.js";
import { nodeMessage } from "../wire/copy-codec.js";
import { FrameKind, type WireFrame } from "../wire/packet-codec.js";
import type { ServedNode, ShardServingLimits } from "./shard-server.js";
import { SERVING_LIMITS } from "./shard-serving.js";

export type PeerCall = ServerDuplexStream<Buffer, Buffer>;

/** Nothing but greetings and signs of life leaves. */
const IN_FLIGHT_MAX = 64 * 1024;

/** All streams of messages from other storage nodes. What one of them cannot send ends its own stream. */
export class PeerServing implements Disposable {
  readonly #node: ServedNode;
  readonly #receiver: PeerReceiver;
  readonly #messageBytesMax: number;
  /** What messages of which not everything has come may hold; where there is no room they are lost. */
  readonly #unfinished: Budget;
  readonly #streams = new Set<FrameStream>();
  #parts = 0;

  constructor(node: ServedNode, receiver: PeerReceiver, { limits }: { readonly limits?: Partial<ShardServingLimits> }) {
    this.#node = node;
    this.#receiver = receiver;
    this.#messageBytesMax = limits?.messageBytesMax ?? SERVING_LIMITS.messageBytesMax;
    this.#unfinished = new Budget(this.#messageBytesMax);
  }

  /** `from`: the node that calls. */
  serve(call: PeerCall, from: string): void {
    const stream: FrameStream = new FrameStream(call, {
      bytesInFlightMax: IN_FLIGHT_MAX,
      messageBytesMax: this.#messageBytesMax,
      unfinished: {
        budget: this.#unfinished,
        share: { owner: from, connection: 0 },
        order: () => ++this.#parts,
      },
      onFrame: (frame) => this.#onFrame(stream, from, frame),
      onEnd: () => this.#streams.delete(stream),
      onRoom: () => undefined,
    });
    this.#streams.add(stream);
    const { name: nodeName, schemaVersion } = this.#node;
    const greeting = ByteWriter.bytesOf((writer) => hello(writer, { nodeName, schemaVersion }));
    stream.sender.signal(0, FrameKind.HELLO, greeting);
  }

  [Symbol.dispose](): void {
    for (const stream of [...this.#streams]) stream.end(undefined);
  }

  #onFrame({ assembler, sender }: FrameStream, from: string, { request, kind, payload }: WireFrame): void {
    switch (kind) {
      case FrameKind.REQUEST_PART:
        assembler.add(request, payload);
        return;
      case FrameKind.REQUEST: {
        const message = assembler.complete(request, payload);
        if (message !== undefined) this.#receive(from, message);
        return;
      }
      case FrameKind.PING:
        // Whoever takes none of them is not alive.
        if (sender.unsentBytes < IN_FLIGHT_MAX) sender.signal(0, FrameKind.PONG);
        return;
      default:
        throw unreadable(`a storage node does not send others frames of kind ${kind}`);
    }
  }

  #receive(from: string, bytes: Buffer): void {
    const reader = new ByteReader(bytes);
    const message = nodeMessage(reader);
    reader.end();
    this.#receiver.receive(from, message);
  }
}
