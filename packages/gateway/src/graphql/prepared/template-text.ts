/**
 * The template of a request while it is being written. Marks are control characters, which no JSON string holds: 1 to 4
 * for a literal of that kind, 16 and more for the beginning of a member of the body.
 */
export class TemplateText {
  readonly #bytes: Buffer;
  #length = 0;

  constructor(bytesMax: number) {
    this.#bytes = Buffer.allocUnsafeSlow(bytesMax);
  }

  /** Bytes that do not fit are not written; such a template is not to be used. */
  get isFull(): boolean {
    return this.#length >= this.#bytes.length;
  }

  /** Bytes that still fit. */
  get room(): number {
    return this.#bytes.length - this.#length;
  }

  reset(): void {
    this.#length = 0;
  }

  push(byte: number): void {
    this.#bytes[this.#length++] = byte;
  }

  section(bit: number): void {
    this.#bytes[this.#length++] = 16 + bit;
  }

  /** Keeps `bytes` between `start` and `end`. */
  keep(bytes: Buffer, start: number, end: number): void {
    if (this.#length + end - start > this.#bytes.length) {
      this.#length = this.#bytes.length;
      return;
    }
    if (end - start > 24) this.#length += bytes.copy(this.#bytes, this.#length, start, end);
    else for (let at = start; at < end; at++) this.#bytes[this.#length++] = bytes[at] as number;
  }

  /** Keeps `word` when it stands at `start`: the place behind it, or -1. */
  word(bytes: Buffer, start: number, word: string): number {
    for (let i = 0; i < word.length; i++) {
      if (bytes[start + i] !== word.charCodeAt(i)) return -1;
    }
    this.keep(bytes, start, start + word.length);
    return start + word.length;
  }

  text(): string {
    return this.#bytes.toString("latin1", 0, this.#length);
  }
}
