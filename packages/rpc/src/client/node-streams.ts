import { type ChannelCredentials, Client, Metadata } from "@grpc/grpc-js";
import { FrameStream } from "../stream/frame-stream.js";
import { hello } from "../stream/message-head.js";
import { channelOptions } from "../tls/credentials.js";
import { ByteReader } from "../wire/byte-reader.js";
import { FrameKind, type PacketMethod, type WireFrame } from "../wire/packet-codec.js";
import type { LinkEvents } from "./kept-link.js";

/** A link that says nothing in three ticks is dead: after the first it was asked. */
const HEARTBEAT_MS = 700;
const SILENT_TICKS_MAX = 3;

export interface NodeStreamsOptions extends LinkEvents {
  readonly name: string;
  readonly address: string;
  readonly credentials: ChannelCredentials;
  readonly messageBytesMax: number;
  readonly connectTimeoutMs: number;
  /** What each stream is a call of. */
  readonly method: PacketMethod;
  readonly metadata?: Metadata;
  /** Of each stream: bytes on their way at most. */
  readonly bytesInFlightMax: readonly number[];
  /** See `FrameSenderOptions`. */
  readonly isPrompt?: boolean;
  /** At each greeting: the version of the schema that the node knows. */
  readonly onNodeSchemaVersion?: (version: number) => void;
  /** Frames of requests and responses. */
  readonly onFrame?: (stream: FrameStream, frame: WireFrame) => void;
  /** Called when less waits to be sent than before. */
  readonly onRoom?: () => void;
}

/** Streams to a node, from the attempt to open them until one of them breaks. */
export class NodeStreams {
  readonly streams: readonly FrameStream[];
  readonly #options: NodeStreamsOptions;
  readonly #clients: readonly Client[];
  readonly #connectTimer: NodeJS.Timeout;
  #heartbeat: NodeJS.Timeout | undefined;
  #hellos = 0;
  #isDraining = false;
  #isOver = false;
  #isSilent = true;
  #silentTicks = 0;

  constructor(options: NodeStreamsOptions) {
    this.#options = options;
    const { name, address, credentials, connectTimeoutMs, bytesInFlightMax } = options;
    // A connection for each: a batch in the buffers of one is not before what goes through the other.
    this.#clients = bytesInFlightMax.map(() => new Client(address, credentials, channelOptions(name)));
    this.streams = this.#clients.map((client, at) => this.#open(client, bytesInFlightMax[at] ?? 0));
    this.#connectTimer = setTimeout(() => this.#fail(`it did not answer in ${connectTimeoutMs} ms`), connectTimeoutMs);
  }

  close(): void {
    this.#fail("this process has closed the connection");
  }

  #open(client: Client, bytesInFlightMax: number): FrameStream {
    const { method, metadata = new Metadata(), isPrompt, messageBytesMax, onRoom = () => undefined } = this.#options;
    const { path, requestSerialize, responseDeserialize } = method;
    const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata);
    const stream: FrameStream = new FrameStream(call, {
      ...{ bytesInFlightMax, isPrompt, messageBytesMax },
      onFrame: (frame) => this.#onFrame(stream, frame),
      onEnd: (error) => this.#fail(error?.message ?? "it has closed the connection"),
      onRoom,
    });
    return stream;
  }

  #onFrame(stream: FrameStream, frame: WireFrame): void {
    if (stream === this.streams[0]) this.#isSilent = false;
    switch (frame.kind) {
      case FrameKind.HELLO:
        this.#greet(frame.payload);
        return;
      case FrameKind.DRAINING:
        this.#isDraining = true;
        this.#options.onDraining();
        return;
      case FrameKind.PING:
        stream.sender.signal(0, FrameKind.PONG);
        return;
      case FrameKind.PONG:
        return;
      default:
        this.#options.onFrame?.(stream, frame);
    }
  }

  #greet(payload: Buffer): void {
    const { name, onNodeSchemaVersion, onReady } = this.#options;
    const { nodeName, schemaVersion } = hello(new ByteReader(payload));
    if (nodeName !== name) {
      this.#fail(`it is node '${nodeName}' that answers there`);
      return;
    }
    onNodeSchemaVersion?.(schemaVersion);
    if (++this.#hellos !== this.streams.length) return;
    clearTimeout(this.#connectTimer);
    this.#heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS);
    // A node that is being stopped is not there again because it still answers the door.
    if (!this.#isDraining) onReady();
  }

  /** Intervals are counted, not time: a process that was held up itself takes nobody for dead. */
  #beat(): void {
    this.#silentTicks = this.#isSilent ? this.#silentTicks + 1 : 0;
    if (this.#silentTicks >= SILENT_TICKS_MAX) {
      this.#fail(`it said nothing for ${SILENT_TICKS_MAX * HEARTBEAT_MS} ms`);
      return;
    }
    this.#isSilent = true;
    this.streams[0]?.sender.signal(0, FrameKind.PING);
  }

  #fail(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#connectTimer);
    clearInterval(this.#heartbeat);
    // Before their senders are closed: they still know what they have not sent.
    this.#options.onEnd(reason);
    for (const stream of this.streams) stream.end(undefined);
    for (const client of this.#clients) client.close();
  }
}
