import { readSync } from "node:fs";
import { ShoalError } from "@shoal/model";

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const PLUS = 0x2b;
const DOT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Longer number tokens are refused; JSON.stringify never writes more than 25 bytes. */
const NUMBER_BYTES_MAX = 64;
const POWERS_OF_TEN = Array.from({ length: 23 }, (_, exponent) => 10 ** exponent);

/** Fills `into` from `offset` on and says how many bytes came; 0 is the end. */
export type ByteSource = (into: Uint8Array, offset: number) => number;

/**
 * Reads one JSON text piece by piece, in constant memory whatever its length: the caller walks it with `array`,
 * `object`, `string`, `number` and `skip`, and nothing but the current token is held.
 *
 * Promise: numbers and strings come out exactly as `JSON.parse` gives them. Errors: `dataLoss` with the byte position
 * when the text is no JSON or is cut off, or when the caller asks for another type than stands there.
 */
export class JsonScanner {
  readonly #source: ByteSource;
  readonly #buffer: Buffer;
  #at = 0;
  #end = 0;
  #consumed = 0;

  constructor(source: ByteSource, bufferBytes = 1 << 18) {
    this.#source = source;
    this.#buffer = Buffer.allocUnsafe(Math.max(bufferBytes, 2 * NUMBER_BYTES_MAX));
  }

  /** Scans an open file from its current position. The caller keeps and closes the descriptor. */
  static ofFile(descriptor: number): JsonScanner {
    return new JsonScanner((into, offset) => readSync(descriptor, into, offset, into.length - offset, null));
  }

  /** Calls `element` for each element, which must read it (or `skip` it). */
  array(element: (index: number) => void): void {
    this.#expect(OPEN_ARRAY);
    if (this.#tryTake(CLOSE_ARRAY)) return;
    for (let index = 0; ; index++) {
      element(index);
      if (this.#tryTake(CLOSE_ARRAY)) return;
      this.#expect(COMMA);
    }
  }

  /** Calls `member` for each member, which must read its value (or `skip` it). */
  object(member: (key: string) => void): void {
    this.#expect(OPEN_OBJECT);
    if (this.#tryTake(CLOSE_OBJECT)) return;
    for (;;) {
      const key = this.string();
      this.#expect(COLON);
      member(key);
      if (this.#tryTake(CLOSE_OBJECT)) return;
      this.#expect(COMMA);
    }
  }

  string(): string {
    this.#expect(QUOTE);
    const pieces: Buffer[] = [];
    let escaped = false;
    let start = this.#at;
    for (;;) {
      if (this.#at === this.#end) {
        pieces.push(Buffer.from(this.#buffer.subarray(start, this.#at)));
        if (!this.#fill()) this.#fail("the text ends inside a string");
        start = this.#at;
      }
      const byte = this.#buffer[this.#at];
      this.#at++;
      if (byte === QUOTE) break;
      if (byte === BACKSLASH) {
        escaped = true;
        if (this.#at === this.#end) {
          pieces.push(Buffer.from(this.#buffer.subarray(start, this.#at)));
          if (!this.#fill()) this.#fail("the text ends inside a string");
          start = this.#at;
        }
        this.#at++;
      }
    }
    const last = this.#buffer.subarray(start, this.#at - 1);
    const raw = pieces.length === 0 ? last.toString("utf8") : Buffer.concat([...pieces, last]).toString("utf8");
    return escaped ? this.#unescape(raw) : raw;
  }

  number(): number {
    this.#skipSpace();
    if (this.#end - this.#at < NUMBER_BYTES_MAX) this.#fill();
    const buffer = this.#buffer;
    const start = this.#at;
    let at = start;
    const negative = buffer[at] === MINUS;
    if (negative) at++;
    let mantissa = 0;
    let digits = 0;
    let decimals = 0;
    let seenDot = false;
    for (; at < this.#end; at++) {
      const byte = buffer[at] as number;
      const digit = byte - ZERO;
      if (digit >= 0 && digit <= 9) {
        mantissa = mantissa * 10 + digit;
        digits++;
        if (seenDot) decimals++;
      } else if (byte === DOT && !seenDot) seenDot = true;
      else break;
    }
    const next = at < this.#end ? (buffer[at] as number) : 0;
    // Up to 15 digits and 22 decimals both operands are exact doubles, so one division rounds correctly (Clinger 1990).
    if (digits > 0 && digits <= 15 && decimals <= 22 && next !== 0x65 && next !== 0x45) {
      this.#at = at;
      const value = mantissa / (POWERS_OF_TEN[decimals] as number);
      return negative ? -value : value;
    }
    return this.#slowNumber(start);
  }

  /** Steps over one value of any type. */
  skip(): void {
    const first = this.#peek();
    if (first === OPEN_ARRAY) this.array(() => this.skip());
    else if (first === OPEN_OBJECT) this.object(() => this.skip());
    else if (first === QUOTE) this.string();
    else if (first === 0x74) this.#literal("true");
    else if (first === 0x66) this.#literal("false");
    else if (first === 0x6e) this.#literal("null");
    else this.number();
  }

  /** The text must be over, white space aside. */
  end(): void {
    this.#skipSpace();
    if (this.#at < this.#end) this.#fail("text after the end of the document");
  }

  #slowNumber(start: number): number {
    let at = start;
    while (at < this.#end && at - start <= NUMBER_BYTES_MAX) {
      const byte = this.#buffer[at] as number;
      const digit = byte - ZERO;
      const partOfNumber = (digit >= 0 && digit <= 9) || byte === DOT || byte === MINUS || byte === PLUS;
      if (!partOfNumber && byte !== 0x65 && byte !== 0x45) break;
      at++;
    }
    const text = this.#buffer.toString("latin1", start, at);
    if (at === start || at - start > NUMBER_BYTES_MAX) this.#fail("a number is expected here");
    this.#at = at;
    const value = Number(text);
    if (Number.isNaN(value)) this.#fail(`'${text}' is no number`);
    return value;
  }

  #literal(text: string): void {
    for (let index = 0; index < text.length; index++) {
      if (this.#at === this.#end && !this.#fill()) this.#fail(`the text ends inside '${text}'`);
      if (this.#buffer[this.#at] !== text.charCodeAt(index)) this.#fail(`'${text}' is expected here`);
      this.#at++;
    }
  }

  #unescape(raw: string): string {
    try {
      return JSON.parse(`"${raw}"`) as string;
    } catch (cause) {
      throw new ShoalError("dataLoss", `broken escape in the string before byte ${this.#position()}`, { cause });
    }
  }

  #peek(): number {
    this.#skipSpace();
    if (this.#at === this.#end) this.#fail("the text ends where a value is expected");
    return this.#buffer[this.#at] as number;
  }

  #tryTake(byte: number): boolean {
    if (this.#peek() !== byte) return false;
    this.#at++;
    return true;
  }

  #expect(byte: number): void {
    if (!this.#tryTake(byte)) this.#fail(`'${String.fromCharCode(byte)}' is expected here`);
  }

  #skipSpace(): void {
    for (;;) {
      if (this.#at === this.#end && !this.#fill()) return;
      const byte = this.#buffer[this.#at] as number;
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.#at++;
    }
  }

  /** Moves what is left to the front and reads behind it until the buffer is full or the text ends. */
  #fill(): boolean {
    this.#buffer.copyWithin(0, this.#at, this.#end);
    this.#consumed += this.#at;
    this.#end -= this.#at;
    this.#at = 0;
    while (this.#end < this.#buffer.length) {
      const bytes = this.#source(this.#buffer, this.#end);
      if (bytes === 0) break;
      this.#end += bytes;
    }
    return this.#end > 0;
  }

  #position(): number {
    return this.#consumed + this.#at;
  }

  #fail(reason: string): never {
    throw new ShoalError("dataLoss", `JSON, byte ${this.#position()}: ${reason}`);
  }
}
