/** What a lifted literal is; the kind is part of the template, the value is not. */
export const LiteralKind = { int: 1, float: 2, string: 3, vector: 4 } as const;
export type LiteralKind = (typeof LiteralKind)[keyof typeof LiteralKind];

/** More literals than this are not lifted. */
export const LITERALS_MAX = 64;

/** Numbers of all vectors of one request. */
const VECTOR_NUMBERS_MAX = 256 * 1024;

/**
 * The literals that were cut out of one request, in the order of the text. Reused by the next request: values are
 * taken before anything is awaited.
 */
export class LiftedLiterals {
  #bytes: Buffer = Buffer.alloc(0);
  readonly #kinds = new Uint8Array(LITERALS_MAX);
  /** Of numbers: the value. */
  readonly #numbers = new Float64Array(LITERALS_MAX);
  /** Of strings: the place of their content in the body. Of vectors: the place of their numbers. */
  readonly #starts = new Int32Array(LITERALS_MAX);
  readonly #ends = new Int32Array(LITERALS_MAX);
  #vectors = new Float32Array(4096);
  #count = 0;
  #vectorsEnd = 0;
  /** Members of JSON objects that were passed. */
  memberCount = 0;

  /** How many literals there are. */
  get count(): number {
    return this.#count;
  }

  reset(bytes: Buffer): void {
    this.#bytes = bytes;
    this.#count = 0;
    this.#vectorsEnd = 0;
    this.memberCount = 0;
  }

  kind(index: number): LiteralKind | undefined {
    return index < this.#count ? (this.#kinds[index] as LiteralKind) : undefined;
  }

  number(index: number): number {
    return this.#numbers[index] ?? Number.NaN;
  }

  string(index: number): string {
    return this.#bytes.toString("utf8", this.#starts[index], this.#ends[index]);
  }

  /** A copy. */
  vector(index: number): Float32Array {
    return this.#vectors.slice(this.#starts[index], this.#ends[index]);
  }

  /** False when there are too many. */
  addNumber(kind: 1 | 2, value: number): boolean {
    if (this.#count === LITERALS_MAX) return false;
    this.#kinds[this.#count] = kind;
    this.#numbers[this.#count++] = value;
    return true;
  }

  /** Content between `start` and `end` of the body, free of escapes. */
  addString(start: number, end: number): boolean {
    return this.#add(LiteralKind.string, start, end);
  }

  /** Numbers of all vectors. */
  get vectorNumbers(): number {
    return this.#vectorsEnd;
  }

  /** Where the numbers of the next vector go: write from {@link vectorStart} on, then call {@link addVector}. */
  get vectorStart(): number {
    return this.#vectorsEnd;
  }

  /** Room for the number at `index`; grows. Undefined when there are too many. */
  vectorRoom(index: number): Float32Array | undefined {
    if (index < this.#vectors.length) return this.#vectors;
    if (index >= VECTOR_NUMBERS_MAX) return undefined;
    const larger = new Float32Array(Math.min(VECTOR_NUMBERS_MAX, Math.max(index + 1, this.#vectors.length * 2)));
    larger.set(this.#vectors);
    this.#vectors = larger;
    return larger;
  }

  addVector(end: number): boolean {
    const start = this.#vectorsEnd;
    this.#vectorsEnd = end;
    return this.#add(LiteralKind.vector, start, end);
  }

  #add(kind: LiteralKind, start: number, end: number): boolean {
    if (this.#count === LITERALS_MAX) return false;
    this.#kinds[this.#count] = kind;
    this.#starts[this.#count] = start;
    this.#ends[this.#count++] = end;
    return true;
  }
}
