import { ShoalError } from "@shoal/model";
import { decodePacket, type WireFrame } from "../wire/packet-codec.js";
import { FrameSender } from "./frame-sender.js";
import { MessageAssembler, type UnfinishedBudget } from "./message-assembler.js";

/** What either side of gRPC gives for a stream in both directions. */
export interface PacketStream {
  write(packet: Buffer, done: () => void): boolean;
  on(event: "data", listener: (packet: Buffer) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: string, listener: () => void): unknown;
  pause(): unknown;
  resume(): unknown;
  end(): unknown;
}

export interface FrameStreamOptions {
  /** Bytes on their way out at most, beside one packet. */
  readonly bytesInFlightMax: number;
  /** See `FrameSenderOptions`. */
  readonly isPrompt?: boolean | undefined;
  readonly messageBytesMax: number;
  readonly unfinished?: UnfinishedBudget;
  readonly onFrame: (frame: WireFrame) => void;
  /** The stream is over, once; without an error when the other side has ended it. */
  readonly onEnd: (error: ShoalError | undefined) => void;
  readonly onRoom: () => void;
}

/** One gRPC stream of packets, of either side, as frames. */
export class FrameStream {
  readonly sender: FrameSender;
  readonly assembler: MessageAssembler;
  readonly #stream: PacketStream;
  readonly #onEnd: FrameStreamOptions["onEnd"];
  #isOver = false;

  constructor(stream: PacketStream, options: FrameStreamOptions) {
    this.#stream = stream;
    this.#onEnd = options.onEnd;
    this.assembler = new MessageAssembler(options.messageBytesMax, options.unfinished);
    this.sender = new FrameSender({
      bytesInFlightMax: options.bytesInFlightMax,
      isPrompt: options.isPrompt,
      onRoom: options.onRoom,
      write: (packet, done) => stream.write(packet, () => done()),
    });
    stream.on("data", (packet: Buffer) => {
      try {
        for (const frame of decodePacket(packet)) if (!this.#isOver) options.onFrame(frame);
      } catch (error) {
        this.end(ShoalError.from(error));
      }
    });
    stream.on("error", (error) => this.end(new ShoalError("unavailable", reasonOf(error))));
    stream.on("end", () => this.end(undefined));
    stream.on("close", () => this.end(undefined));
    stream.on("cancelled", () => this.end(new ShoalError("unavailable", "the other side is gone")));
  }

  /** Nothing is read until `resume`: the other side has to wait. */
  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  /** Ends the stream for a reason of ours or of the other side. */
  end(error: ShoalError | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // The sender still knows what it has not sent.
    this.#onEnd(error);
    this.sender.close();
    this.assembler.close();
    this.#stream.end();
  }
}

/** What gRPC says of a stream that broke, without its own prefix. */
function reasonOf(error: Error): string {
  const details = (error as Error & { readonly details?: unknown }).details;
  return typeof details === "string" && details !== "" ? details : error.message;
}
