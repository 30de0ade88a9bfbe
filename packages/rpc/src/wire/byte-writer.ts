import { OBJECT_ID_BYTES, type ObjectId, writeObjectId } from "@shoal/model";
import { eventLoop } from "@shoal/runtime";
import type { Codec, Wire } from "./codec.js";

/** What small messages are put together in, one at a time: no buffer is made for them but the one they leave in. */
const SCRATCH = Buffer.allocUnsafeSlow(64 * 1024);
let isScratchTaken = false;

/** What is written or read at once of a long list: about a millisecond. */
export const STEP_BYTES = 128 * 1024;

const INT64_BITS = 64n;

/** Puts values one after the other into one buffer, little-endian; `ByteReader` takes them out in the same order. */
export class ByteWriter implements Wire {
  #buffer: Buffer;
  #at = 0;
  #yields = false;
  /** What `longList` leaves for later. */
  #long: { readonly items: readonly unknown[]; readonly item: Codec<unknown> } | undefined;

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

  /** As `bytesOf`; after so many bytes of the message's `longList` the codec yields. */
  static async bytesInSteps(write: (writer: ByteWriter) => void): Promise<Buffer> {
    const writer = new ByteWriter(Buffer.allocUnsafe(STEP_BYTES));
    writer.#yields = true;
    write(writer);
    await writer.#writeLong();
    return writer.#buffer.subarray(0, writer.#at);
  }

  #run(write: (writer: ByteWriter) => void): Buffer {
    write(this);
    return this.#buffer.subarray(0, this.#at);
  }

  byte(value: number): number {
    this.#reserve(1);
    this.#buffer[this.#at++] = value;
    return value;
  }

  flag(value: boolean): boolean {
    this.byte(value ? 1 : 0);
    return value;
  }

  count(value: number): number {
    this.#reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#buffer[this.#at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[this.#at++] = rest;
    return value;
  }

  double(value: number): number {
    this.#reserve(8);
    this.#at = this.#buffer.writeDoubleLE(value, this.#at);
    return value;
  }

  instant(value: bigint): bigint {
    this.#reserve(16);
    this.#at = this.#buffer.writeBigUInt64LE(BigInt.asUintN(64, value), this.#at);
    this.#at = this.#buffer.writeBigInt64LE(BigInt.asIntN(64, value >> INT64_BITS), this.#at);
    return value;
  }

  text(value: string): string {
    const bytes = Buffer.byteLength(value);
    this.count(bytes);
    this.#reserve(bytes);
    this.#at += this.#buffer.write(value, this.#at, bytes, "utf8");
    return value;
  }

  bytes(value: Uint8Array): Uint8Array {
    this.count(value.byteLength);
    this.#reserve(value.byteLength);
    this.#buffer.set(value, this.#at);
    this.#at += value.byteLength;
    return value;
  }

  floats(value: Float32Array): Float32Array {
    this.bytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    return value;
  }

  doubles(value: Float64Array): Float64Array {
    this.bytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    return value;
  }

  id(value: ObjectId): ObjectId {
    this.#reserve(OBJECT_ID_BYTES);
    writeObjectId(value, this.#buffer, this.#at);
    this.#at += OBJECT_ID_BYTES;
    return value;
  }

  json<Value>(value?: Value): Value {
    this.text(JSON.stringify(value));
    return value as Value;
  }

  choice<Choice>(choices: readonly Choice[], _what: string, value?: Choice): Choice {
    this.byte(choices.indexOf(value as Choice));
    return value as Choice;
  }

  list<Item>(items: readonly Item[], item: Codec<Item>): readonly Item[] {
    this.count(items.length);
    for (const one of items) item(this, one);
    return items;
  }

  longList<Item>(items: readonly Item[], item: Codec<Item>): readonly Item[] {
    if (!this.#yields) return this.list(items, item);
    this.count(items.length);
    this.#long = { items, item: item as Codec<unknown> };
    return items;
  }

  optional<Value>(value: Value | undefined, codec: Codec<Value>): Value | undefined {
    this.flag(value !== undefined);
    if (value !== undefined) codec(this, value);
    return value;
  }

  trailing<Value>(value: Value | undefined, codec: Codec<Value>): Value | undefined {
    if (value !== undefined) codec(this, value);
    return value;
  }

  async #writeLong(): Promise<void> {
    if (this.#long === undefined) return;
    const { items, item } = this.#long;
    let stepEnd = this.#at + STEP_BYTES;
    for (const one of items) {
      item(this, one);
      if (this.#at < stepEnd) continue;
      await eventLoop.next();
      stepEnd = this.#at + STEP_BYTES;
    }
  }

  #reserve(bytes: number): void {
    const needed = this.#at + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }
}
