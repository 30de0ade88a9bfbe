import { OBJECT_ID_BYTES, type ObjectId, objectIdFromBytes, ShoalError } from "@shoal/model";
import { eventLoop } from "@shoal/runtime";
import { STEP_BYTES } from "./byte-writer.js";
import type { Codec, Wire } from "./codec.js";

const INT64_BITS = 64n;

/** Takes values out of a message in the order in which they were written. Fails with `internal` on anything else. */
export class ByteReader implements Wire {
  readonly #buffer: Buffer;
  #at = 0;
  #yields = false;
  /** What `longList` leaves for later. */
  #long: { readonly items: unknown[]; readonly count: number; readonly item: Codec<unknown> } | undefined;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
  }

  /** Bytes of the whole message. */
  get length(): number {
    return this.#buffer.length;
  }

  /** As `read` alone; after so many bytes of the message's `longList` the codec yields. */
  async inSteps<Value>(read: (reader: ByteReader) => Value): Promise<Value> {
    this.#yields = true;
    const value = read(this);
    await this.#readLong();
    return value;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#buffer.length;
  }

  skip(bytes: number): void {
    this.#take(bytes);
  }

  /** Fails unless everything was read. */
  end(): void {
    const left = this.#buffer.length - this.#at;
    if (left > 0) throw unreadable(`${left} bytes too many`);
  }

  byte(): number {
    return this.#buffer[this.#take(1)] ?? 0;
  }

  flag(): boolean {
    const value = this.byte();
    if (value > 1) throw unreadable(`a flag is 0 or 1, got ${value}`);
    return value === 1;
  }

  count(): number {
    let value = 0;
    for (let factor = 1; factor < 2 ** 53; factor *= 0x80) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        return value;
      }
    }
    throw unreadable("a count is below 2^53");
  }

  double(): number {
    return this.#buffer.readDoubleLE(this.#take(8));
  }

  instant(): bigint {
    const at = this.#take(16);
    return (this.#buffer.readBigInt64LE(at + 8) << INT64_BITS) | this.#buffer.readBigUInt64LE(at);
  }

  text(): string {
    const bytes = this.count();
    const at = this.#take(bytes);
    return this.#buffer.toString("utf8", at, at + bytes);
  }

  /** A view: it keeps the whole message in memory. */
  bytes(): Buffer {
    const bytes = this.count();
    const at = this.#take(bytes);
    return this.#buffer.subarray(at, at + bytes);
  }

  /** A view where its place allows. */
  floats(): Float32Array {
    const bytes = this.bytes();
    if (bytes.length % 4 !== 0) throw unreadable(`floats take 4 bytes each, got ${bytes.length} bytes`);
    if (bytes.byteOffset % 4 === 0) return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
    // Of Node's pool, where it is small: memory of its own would cost more than the copy.
    const copy = Buffer.allocUnsafe(bytes.length);
    copy.set(bytes);
    return new Float32Array(copy.buffer, copy.byteOffset, bytes.length / 4);
  }

  doubles(): Float64Array {
    const bytes = this.bytes();
    if (bytes.length % 8 !== 0) throw unreadable(`doubles take 8 bytes each, got ${bytes.length} bytes`);
    return new Float64Array(copyOf(bytes));
  }

  id(): ObjectId {
    return objectIdFromBytes(this.#buffer, this.#take(OBJECT_ID_BYTES));
  }

  /** Whoever asks knows what it is: the other side wrote it from the type that it is read as. */
  json<Value>(): Value {
    const text = this.text();
    try {
      return JSON.parse(text) as Value;
    } catch {
      throw unreadable("a part that should be JSON is none");
    }
  }

  choice<Choice>(choices: readonly Choice[], what: string): Choice {
    const at = this.byte();
    const choice = choices[at];
    if (choice === undefined) throw unreadable(`there is no ${what} ${at}`);
    return choice;
  }

  list<Item>(_items: readonly Item[] | undefined, item: Codec<Item>): readonly Item[] {
    const count = this.#listCount();
    const items: Item[] = [];
    for (let at = 0; at < count; at++) items.push(item(this));
    return items;
  }

  longList<Item>(none: readonly Item[] | undefined, item: Codec<Item>): readonly Item[] {
    if (!this.#yields) return this.list(none, item);
    const items: Item[] = [];
    this.#long = { items, count: this.#listCount(), item: item as Codec<unknown> };
    return items;
  }

  optional<Value>(_value: Value | undefined, codec: Codec<Value>): Value | undefined {
    return this.flag() ? codec(this) : undefined;
  }

  trailing<Value>(_value: Value | undefined, codec: Codec<Value>): Value | undefined {
    return this.isAtEnd ? undefined : codec(this);
  }

  async #readLong(): Promise<void> {
    if (this.#long === undefined) return;
    const { items, count, item } = this.#long;
    let stepEnd = this.#at + STEP_BYTES;
    for (let at = 0; at < count; at++) {
      items.push(item(this));
      if (this.#at < stepEnd) continue;
      await eventLoop.next();
      stepEnd = this.#at + STEP_BYTES;
    }
  }

  #listCount(): number {
    const count = this.count();
    // Each takes a byte at least: nobody makes room for what cannot follow.
    if (count > this.#buffer.length - this.#at) throw unreadable(`a list of ${count} is cut off`);
    return count;
  }

  #take(bytes: number): number {
    const at = this.#at;
    if (bytes > this.#buffer.length - at) throw unreadable(`it is cut off: ${bytes} bytes should follow byte ${at}`);
    this.#at = at + bytes;
    return at;
  }
}

function copyOf(bytes: Uint8Array): ArrayBuffer {
  const copy = new ArrayBuffer(bytes.byteLength);
  new Uint8Array(copy).set(bytes);
  return copy;
}

export function unreadable(reason: string): ShoalError {
  return new ShoalError("internal", `an internal message cannot be read: ${reason}`);
}
