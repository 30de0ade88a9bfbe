import { ShoalError } from "@shoal/model";
import type { GraphQLError } from "graphql";
import { FLOAT32_CHARS_MAX, float32ArrayBytesMax, writeFloat32, writeFloat32Array } from "../../json/float32.js";
import { responseTooLarge } from "../../response-budget.js";

/** Longer runs are copied by the runtime, shorter ones byte by byte. */
const SHORT_MAX = 32;

/** Each becomes an error with its path in the response. */
const FAILURES_MAX = 10_000;

/** Where null stands for a value that failed, and why. */
export interface WrittenFailure {
  readonly at: number;
  readonly error: GraphQLError;
}

/** A JSON text while it is being written, in one growing buffer that is used again for the next one. */
export class JsonBytes {
  #buffer: Buffer;
  #length = 0;
  readonly #failures: WrittenFailure[] = [];

  /**
   * A buffer that grew beyond `keptBytesMax` is given up after use. Writing more than `bytesMax`, by the upper bound of
   * what is written next, fails with `tooLarge`.
   */
  constructor(
    private readonly keptBytesMax: number,
    private readonly bytesMax = Number.POSITIVE_INFINITY,
  ) {
    this.#buffer = Buffer.allocUnsafeSlow(Math.min(64 * 1024, keptBytesMax));
  }

  get length(): number {
    return this.#length;
  }

  /** What was written, until more is. */
  get written(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** What {@link failed} has written, in the order of the text. */
  get failures(): readonly WrittenFailure[] {
    return this.#failures;
  }

  /** Removes what was written since {@link length} was `length`. */
  truncate(length: number): void {
    this.#length = length;
    while ((this.#failures.at(-1)?.at ?? -1) >= length) this.#failures.pop();
  }

  /** Writes null for a value that failed, and keeps where. Fails with `tooLarge` when too many did. */
  failed(error: GraphQLError): void {
    this.#keepFailure({ at: this.#length, error });
    this.ascii("null");
  }

  /** What was written, as a buffer of its own; begins a new text. */
  take(): Buffer {
    const { written } = this;
    this.truncate(0);
    if (this.#buffer.length <= this.keptBytesMax) return Buffer.from(written);
    // A copy of a large text takes long, so the buffer itself is given away. Its unused end was never touched: it takes no memory.
    this.#buffer = Buffer.allocUnsafeSlow(this.keptBytesMax);
    return written;
  }

  byte(value: number): void {
    if (this.#length === this.#buffer.length) this.#grow(1);
    this.#buffer[this.#length++] = value;
  }

  copy(source: Uint8Array, start: number, end: number): void {
    const count = end - start;
    if (this.#length + count > this.#buffer.length) this.#grow(count);
    const buffer = this.#buffer;
    let to = this.#length;
    if (count <= SHORT_MAX) for (let at = start; at < end; at++) buffer[to++] = source[at] as number;
    else buffer.set(source.subarray(start, end), to);
    this.#length += count;
  }

  /** Writes again what stands between `start` and `end`. */
  repeat(start: number, end: number): void {
    const count = end - start;
    if (this.#length + count > this.#buffer.length) this.#grow(count);
    if (this.#failures.length > 0) this.#repeatFailures(start, end);
    this.#buffer.copyWithin(this.#length, start, end);
    this.#length += count;
  }

  #repeatFailures(start: number, end: number): void {
    const failures = this.#failures;
    let low = 0;
    for (let high = failures.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((failures[middle]?.at ?? 0) < start) low = middle + 1;
      else high = middle;
    }
    for (let failure = failures[low]; failure !== undefined && failure.at < end; failure = failures[++low]) {
      this.#keepFailure({ at: failure.at - start + this.#length, error: failure.error });
    }
  }

  #keepFailure(failure: WrittenFailure): void {
    if (this.#failures.length === FAILURES_MAX) {
      throw new ShoalError("tooLarge", `more than ${FAILURES_MAX} values of the answer have failed`);
    }
    this.#failures.push(failure);
  }

  bytes(source: Uint8Array): void {
    this.copy(source, 0, source.length);
  }

  /** Text of ASCII characters that need no escape, without quotes. */
  ascii(text: string): void {
    const count = text.length;
    if (this.#length + count > this.#buffer.length) this.#grow(count);
    const buffer = this.#buffer;
    let to = this.#length;
    for (let at = 0; at < count; at++) buffer[to++] = text.charCodeAt(at);
    this.#length = to;
  }

  /** Any text, as it is. */
  utf8(text: string): void {
    const most = text.length * 3;
    if (this.#length + most > this.#buffer.length) this.#grow(most);
    this.#length += this.#buffer.write(text, this.#length, "utf8");
  }

  float32(value: number): void {
    if (this.#length + FLOAT32_CHARS_MAX > this.#buffer.length) this.#grow(FLOAT32_CHARS_MAX);
    this.#length = writeFloat32(this.#buffer, this.#length, value);
  }

  float32Array(vector: Float32Array): void {
    const most = float32ArrayBytesMax(vector.length);
    if (this.#length + most > this.#buffer.length) this.#grow(most);
    this.#length = writeFloat32Array(this.#buffer, this.#length, vector);
  }

  #grow(needed: number): void {
    const least = this.#length + needed;
    if (least > this.bytesMax) throw responseTooLarge(this.bytesMax);
    const size = Math.max(least, Math.min(this.#buffer.length * 2, this.bytesMax));
    const larger = Buffer.allocUnsafeSlow(size);
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
