import { type Json, OBJECT_ID_BYTES, type ObjectId, writeObjectId } from "@shoal/model";
import { eventLoop } from "@shoal/runtime";

/** What small messages are put together in, one at a time: no buffer is made for them but the one they leave in. */
const SCRATCH = Buffer.allocUnsafeSlow(64 * 1024);
let isScratchTaken = false;

/** What is written or read at once of a long list: about a millisecond. */
export const TURN_BYTES = 128 * 1024;

const INT64_BITS = 64n;

/** Puts values one after the other into one buffer, little-endian; `ByteReader` takes them out in the same order. */
export class ByteWriter {
  #buffer: Buffer;
  #at = 0;

  private constructor(buffer: Buffer) {
    this.#buffer = buffer;
  }

  /** The bytes that `write` puts in, which must not wait for anything. */
  static bytesOf(write: (writer: ByteWriter) => void): Buffer {
    if (isScratchTaken) return new ByteWriter(Buffer.allocUnsafe(1024)).#run(write);
    isScratchTaken = true;
    try {
      const bytes = new ByteWriter(SCRATCH).#run(write);
      return bytes.buffer === SCRATCH.buffer ? Buffer.from(bytes) : bytes;
    } finally {
      isScratchTaken = false;
    }
  }

  /** As `bytesOf`, for what takes turns. */
  static async bytesInTurns(write: (writer: ByteWriter) => Promise<void>): Promise<Buffer> {
    const writer = new ByteWriter(Buffer.allocUnsafe(TURN_BYTES));
    await write(writer);
    return writer.#buffer.subarray(0, writer.#at);
  }

  #run(write: (writer: ByteWriter) => void): Buffer {
    write(this);
    return this.#buffer.subarray(0, this.#at);
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#at++] = value;
  }

  flag(value: boolean): void {
    this.byte(value ? 1 : 0);
  }

  /** A whole number from 0 to 2^53 - 1 in seven bits a byte, the lowest first. */
  count(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#buffer[this.#at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[this.#at++] = rest;
  }

  /** All doubles exactly: NaN, infinities and -0 too. */
  double(value: number): void {
    this.#reserve(8);
    this.#at = this.#buffer.writeDoubleLE(value, this.#at);
  }

  /** 128 bits: an instant of the years 0 to 9999 in nanoseconds takes more than 64. */
  instant(value: bigint): void {
    this.#reserve(16);
    this.#at = this.#buffer.writeBigUInt64LE(BigInt.asUintN(64, value), this.#at);
    this.#at = this.#buffer.writeBigInt64LE(BigInt.asIntN(64, value >> INT64_BITS), this.#at);
  }

  text(value: string): void {
    const bytes = Buffer.byteLength(value);
    this.count(bytes);
    this.#reserve(bytes);
    this.#at += this.#buffer.write(value, this.#at, bytes, "utf8");
  }

  bytes(value: Uint8Array): void {
    this.count(value.byteLength);
    this.#reserve(value.byteLength);
    this.#buffer.set(value, this.#at);
    this.#at += value.byteLength;
  }

  floats(value: Float32Array | Float64Array): void {
    this.bytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  }

  id(value: ObjectId): void {
    this.#reserve(OBJECT_ID_BYTES);
    writeObjectId(value, this.#buffer, this.#at);
    this.#at += OBJECT_ID_BYTES;
  }

  json(value: Json): void {
    this.text(JSON.stringify(value));
  }

  list<Item>(items: readonly Item[], write: (writer: ByteWriter, item: Item) => void): void {
    this.count(items.length);
    for (const item of items) write(this, item);
  }

  /** As `list`; after so many bytes others have their turn. */
  async listInTurns<Item>(items: readonly Item[], write: (writer: ByteWriter, item: Item) => void): Promise<void> {
    this.count(items.length);
    let turnEnd = this.#at + TURN_BYTES;
    for (const item of items) {
      write(this, item);
      if (this.#at < turnEnd) continue;
      await eventLoop.next();
      turnEnd = this.#at + TURN_BYTES;
    }
  }

  optional<Value>(value: Value | undefined, write: (writer: ByteWriter, value: Value) => void): void {
    this.flag(value !== undefined);
    if (value !== undefined) write(this, value);
  }

  #reserve(bytes: number): void {
    const needed = this.#at + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }
}
