import { unreadable } from "./byte-reader.js";
import { count } from "./codec.js";
import { bytes, type FieldType, field, message, repeated, uint32 } from "./protobuf.js";

export const FrameKind = {
  NONE: 0,
  /** A part of a request that more parts follow, and the last part. */
  REQUEST_PART: 1,
  REQUEST: 2,
  /** Nobody waits for the response any more. */
  CANCEL: 3,
  /** Parts of a response, as of a request. */
  ANSWER_PART: 4,
  ANSWER: 5,
  /** Instead of a response: why there is none. */
  FAILURE: 6,
  /** The first frame of the server: which node it is. */
  HELLO: 7,
  /** The node answers what it has, and takes nothing new. */
  DRAINING: 8,
  /** Is anybody there? And the response. */
  PING: 9,
  PONG: 10,
} as const;

const frameKind: FieldType<number> = { name: "FrameKind", wireType: 0, absent: FrameKind.NONE, codec: count };

/** A part of a message, at most 256 KiB of it. The layout of complete messages is described in the README. */
const FRAME = message("Frame", {
  /** Given by the caller, counted up from 1; 0 in frames that belong to no request. */
  request: field(1, uint32),
  kind: field(2, frameKind),
  payload: field(3, bytes),
});

/** What was written in one iteration of the event loop. */
export const PACKET = message("Packet", { frames: repeated(1, FRAME) });

const bytesAsTheyAre = (bytes: Buffer): Buffer => bytes;

/** A call of packets both ways, as grpc-js takes it. */
export interface PacketMethod {
  readonly path: string;
  readonly requestStream: true;
  readonly responseStream: true;
  readonly requestSerialize: (packet: Buffer) => Buffer;
  readonly requestDeserialize: (packet: Buffer) => Buffer;
  readonly responseSerialize: (packet: Buffer) => Buffer;
  readonly responseDeserialize: (packet: Buffer) => Buffer;
}

function packets(path: string): PacketMethod {
  return {
    path,
    requestStream: true,
    responseStream: true,
    requestSerialize: bytesAsTheyAre,
    requestDeserialize: bytesAsTheyAre,
    responseSerialize: bytesAsTheyAre,
    responseDeserialize: bytesAsTheyAre,
  };
}

/**
 * A storage node. Each caller holds two streams: one for small requests, one for bulk, so that a batch never stands before a
 * search. Requests of many callers are under way at the same time on each of them.
 */
export const SHARDS = { Talk: packets("/shoal.Shards/Talk") };

/** A storage node, for the others: their messages come as requests that nobody answers. */
export const PEERS = { Deliver: packets("/shoal.Peers/Deliver") };

/** `FRAME` as it is written and read on the way of every request. */
export interface WireFrame {
  readonly request: number;
  readonly kind: number;
  readonly payload: Buffer;
}

export const NO_BYTES = Buffer.alloc(0);

/** What a frame is accompanied by at most. */
const FRAME_OVERHEAD_BYTES = 24;

const KINDS: ReadonlySet<number> = new Set(Object.values(FrameKind));

/* Tags of protobuf: field number and wire type. */
const FRAMES = 0x0a;
const REQUEST = 0x08;
const KIND = 0x10;
const PAYLOAD = 0x1a;

/** `PACKET`, by hand: one buffer for all payloads, each of which is copied once; this is on the way of every request. */
export function encodePacket(frames: readonly WireFrame[]): Buffer {
  let bytes = 0;
  for (const frame of frames) bytes += frame.payload.length + FRAME_OVERHEAD_BYTES;
  const packet = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const { request, kind, payload } of frames) {
    packet[at++] = FRAMES;
    at = putVarint(packet, at, frameBytes(request, payload.length));
    packet[at++] = REQUEST;
    at = putVarint(packet, at, request);
    packet[at++] = KIND;
    packet[at++] = kind;
    packet[at++] = PAYLOAD;
    at = putVarint(packet, at, payload.length);
    packet.set(payload, at);
    at += payload.length;
  }
  return packet.subarray(0, at);
}

/** `PACKET`, by hand. Payloads are views of the packet. Fails with `internal` on anything that is no `Packet` of this version. */
export function decodePacket(packet: Buffer): WireFrame[] {
  const cursor = new Cursor(packet);
  const frames: WireFrame[] = [];
  while (!cursor.isAtEnd(packet.length)) {
    if (cursor.byte() !== FRAMES) throw unreadable("a packet holds frames and nothing else");
    const bytes = cursor.varint();
    frames.push(decodeFrame(cursor, cursor.end(bytes)));
  }
  return frames;
}

function decodeFrame(cursor: Cursor, end: number): WireFrame {
  let request = 0;
  let kind = 0;
  let payload: Buffer = NO_BYTES;
  while (!cursor.isAtEnd(end)) {
    switch (cursor.byte()) {
      case REQUEST:
        request = cursor.varint();
        break;
      case KIND:
        kind = cursor.varint();
        break;
      case PAYLOAD:
        payload = cursor.bytes(cursor.varint());
        break;
      default:
        throw unreadable("a frame has a field that is not known");
    }
  }
  if (kind === FrameKind.NONE || !KINDS.has(kind)) throw unreadable(`there is no kind ${kind} of frames`);
  return { request, kind, payload };
}

class Cursor {
  readonly #packet: Buffer;
  #at = 0;

  constructor(packet: Buffer) {
    this.#packet = packet;
  }

  isAtEnd(end: number): boolean {
    if (this.#at > end) throw unreadable("a frame is longer than it says");
    return this.#at === end;
  }

  byte(): number {
    const byte = this.#packet[this.#at++];
    if (byte === undefined) throw unreadable("a packet is cut off");
    return byte;
  }

  /** 32 bits. */
  varint(): number {
    let value = 0;
    for (let factor = 1; factor < 2 ** 35; factor *= 0x80) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) {
        if (value <= 0xffffffff) return value;
        break;
      }
    }
    throw unreadable("a number of a frame has more than 32 bits");
  }

  end(bytes: number): number {
    if (bytes > this.#packet.length - this.#at) throw unreadable("a packet is cut off");
    return this.#at + bytes;
  }

  bytes(count: number): Buffer {
    const end = this.end(count);
    const bytes = this.#packet.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }
}

function frameBytes(request: number, payloadBytes: number): number {
  return 1 + varintBytes(request) + 2 + 1 + varintBytes(payloadBytes) + payloadBytes;
}

function varintBytes(value: number): number {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5;
}

function putVarint(buffer: Buffer, offset: number, value: number): number {
  let at = offset;
  let rest = value;
  while (rest >= 0x80) {
    buffer[at++] = (rest & 0x7f) | 0x80;
    rest = rest >>> 7;
  }
  buffer[at++] = rest;
  return at;
}
