/** What the reads of all shards of a process may bring at the same time. */
const BYTES_MAX = 64 * 1024 * 1024;

/** Reads of less never wait. */
const SMALL_BYTES = 1024 * 1024;

interface Waiting {
  readonly bytes: number;
  readonly begin: () => void;
}

/** Lets reads of many bytes begin only while all of them together stay within a bound, in the order of the calls. */
export class RowReadGate {
  #bytes = 0;
  readonly #waiting: Waiting[] = [];

  constructor(readonly bytesMax = BYTES_MAX) {}

  /** Undefined when the read may begin; else that is when this resolves. Each must {@link leave}, with as many bytes. */
  enter(bytes: number): Promise<void> | undefined {
    if (bytes <= SMALL_BYTES) return undefined;
    if (this.#waiting.length === 0 && this.#fits(bytes)) {
      this.#bytes += bytes;
      return undefined;
    }
    return new Promise((begin) => this.#waiting.push({ bytes, begin }));
  }

  leave(bytes: number): void {
    if (bytes <= SMALL_BYTES) return;
    this.#bytes -= bytes;
    for (let next = this.#waiting[0]; next !== undefined && this.#fits(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#bytes += next.bytes;
      next.begin();
    }
  }

  /** A single read may be larger than all may be: it goes alone. */
  #fits(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= this.bytesMax;
  }
}
