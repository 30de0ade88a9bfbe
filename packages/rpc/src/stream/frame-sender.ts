import { encodePacket, FrameKind, NO_BYTES, type WireFrame } from "../wire/packet-codec.js";

/** Of one message at once: so long a small one waits at most for a large one. */
export const FRAME_BYTES = 256 * 1024;

/** Large messages that are sent at the same time; the others wait, so that the other side holds few parts. */
export const MESSAGES_IN_PARTS_MAX = 4;

/** A packet with all small frames and one of a large message. */
const PACKET_BYTES_MAX = FRAME_BYTES;

/** How a packet leaves; `done` when it is with the system. */
export type WritePacket = (packet: Buffer, done: () => void) => void;

export interface FrameSenderOptions {
  readonly write: WritePacket;
  /** Bytes given to `write` and not done: no more than these and one packet. */
  readonly bytesInFlightMax: number;
  /** Called when less waits to be sent than before. */
  readonly onRoom: () => void;
  /** A message leaves with those of the same step of work, and waits for no others. */
  readonly isPrompt?: boolean | undefined;
}

/** The last frame of a message has this kind, those before it the other one. */
export interface MessageKind {
  readonly part: number;
  readonly last: number;
}

export const REQUEST_MESSAGE: MessageKind = { part: FrameKind.REQUEST_PART, last: FrameKind.REQUEST };
export const ANSWER_MESSAGE: MessageKind = { part: FrameKind.ANSWER_PART, last: FrameKind.ANSWER };

interface LargeMessage {
  readonly request: number;
  readonly kind: MessageKind;
  readonly payload: Buffer;
  sent: number;
}

/**
 * Sends messages over one stream: what is written in two iterations of the event loop, or one step of work, goes as one packet, small messages
 * first, large ones cut into frames in turn. No faster than the other side takes it.
 */
export class FrameSender {
  readonly #options: FrameSenderOptions;
  #small: WireFrame[] = [];
  readonly #large: LargeMessage[] = [];
  #isPlanned = false;
  #isClosed = false;
  #inFlight = 0;
  #waiting = 0;

  constructor(options: FrameSenderOptions) {
    this.#options = options;
  }

  /** Bytes that wait here or have not left yet; a frame that waits counts also when it carries nothing. */
  get unsentBytes(): number {
    return this.#waiting + this.#small.length + this.#inFlight;
  }

  /** A frame that belongs to no message. */
  signal(request: number, kind: number, payload: Buffer = NO_BYTES): void {
    this.#waiting += payload.length;
    this.#small.push({ request, kind, payload });
    this.#plan(true);
  }

  send(request: number, kind: MessageKind, payload: Buffer): void {
    if (payload.length <= FRAME_BYTES) {
      this.signal(request, kind.last, payload);
      return;
    }
    this.#waiting += payload.length;
    this.#large.push({ request, kind, payload, sent: 0 });
    this.#plan(true);
  }

  /**
   * Drops what was not sent of a message: `all` when nothing of it has left, `rest` when it can never be complete on
   * the other side, `none` when it has left whole.
   */
  takeBack(request: number): "all" | "rest" | "none" {
    const small = this.#small.findIndex((frame) => frame.request === request);
    if (small >= 0) {
      const [frame] = this.#small.splice(small, 1);
      this.#waiting -= frame?.payload.length ?? 0;
      return "all";
    }
    const large = this.#large.findIndex((message) => message.request === request);
    if (large < 0) return "none";
    const [message] = this.#large.splice(large, 1);
    if (message === undefined) return "none";
    this.#waiting -= message.payload.length - message.sent;
    return message.sent === 0 ? "all" : "rest";
  }

  /** Nothing is sent any more. */
  close(): void {
    this.#isClosed = true;
    this.#small = [];
    this.#large.length = 0;
    this.#waiting = 0;
  }

  /**
   * A message that `isNew` leaves at the end of the next iteration of the event loop, where it need not be prompt: what that one brings goes
   * along. What has waited for room leaves at the end of this one.
   */
  #plan(isNew: boolean): void {
    if (this.#isPlanned || this.#isClosed) return;
    this.#isPlanned = true;
    const flush = (): void => {
      this.#isPlanned = false;
      this.#flush();
    };
    if (isNew && this.#options.isPrompt === true) queueMicrotask(flush);
    else setImmediate(isNew ? () => setImmediate(flush) : flush);
  }

  #flush(): void {
    while (this.#inFlight < this.#options.bytesInFlightMax && !this.#isClosed) {
      const frames = this.#nextFrames();
      if (frames.length === 0) return;
      const packet = encodePacket(frames);
      for (const { payload } of frames) this.#waiting -= payload.length;
      this.#inFlight += packet.length;
      this.#options.write(packet, () => {
        this.#inFlight -= packet.length;
        this.#options.onRoom();
        if (this.#small.length > 0 || this.#large.length > 0) this.#plan(false);
      });
    }
  }

  #nextFrames(): WireFrame[] {
    let bytes = 0;
    let count = 0;
    for (const { payload } of this.#small) {
      if (bytes + payload.length > PACKET_BYTES_MAX && count > 0) break;
      bytes += payload.length;
      count++;
    }
    const frames = count === this.#small.length ? this.#small : this.#small.slice(0, count);
    this.#small = count === this.#small.length ? [] : this.#small.slice(count);
    const part = this.#nextPart();
    if (part !== undefined) frames.push(part);
    return frames;
  }

  /** The messages that are under way alternate. */
  #nextPart(): WireFrame | undefined {
    const message = this.#large.shift();
    if (message === undefined) return undefined;
    const { request, kind, payload, sent } = message;
    message.sent = Math.min(payload.length, sent + FRAME_BYTES);
    const isLast = message.sent === payload.length;
    if (!isLast) this.#large.splice(MESSAGES_IN_PARTS_MAX - 1, 0, message);
    return { request, kind: isLast ? kind.last : kind.part, payload: payload.subarray(sent, message.sent) };
  }
}
