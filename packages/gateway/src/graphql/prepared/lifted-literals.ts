import { readFloat32List } from "@shoal/native";

/** What a lifted literal is; the kind is part of the template, the value is not. */
export const LiteralKind = { int: 1, float: 2, string: 3, vector: 4 } as const;
export type LiteralKind = (typeof LiteralKind)[keyof typeof LiteralKind];

/** More literals than this are not lifted. */
export const LITERALS_MAX = 128;

/** Numbers of all vectors of one request. */
const VECTOR_NUMBERS_MAX = 256 * 1024;

/** Where they are read to, request after request. */
const vectors = new Float32Array(VECTOR_NUMBERS_MAX);

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
    return vectors.slice(this.#starts[index], this.#ends[index]);
  }

  /** Whether a literal of this kind and value stands there. */
  holds(index: number, kind: LiteralKind, value: number | string | readonly number[]): boolean {
    if (this.kind(index) !== kind) return false;
    if (typeof value === "string") return this.string(index) === value;
    if (typeof value === "number") return Object.is(this.number(index), value);
    const lifted = this.vector(index);
    return lifted.length === value.length && value.every((each, i) => Object.is(lifted[i], Math.fround(each)));
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

  /** Takes the list of float32 numbers behind the bracket at `open`: the place behind it, or -1 when it is none or too long. */
  addVector(open: number, form: "json" | "graphql"): number {
    const start = this.#vectorsEnd;
    const read = readFloat32List(this.#bytes, open + 1, vectors, start, form);
    if (read === undefined) return -1;
    this.#vectorsEnd = read.index;
    return this.#add(LiteralKind.vector, start, read.index) ? read.end : -1;
  }

  #add(kind: LiteralKind, start: number, end: number): boolean {
    if (this.#count === LITERALS_MAX) return false;
    this.#kinds[this.#count] = kind;
    this.#starts[this.#count] = start;
    this.#ends[this.#count++] = end;
    return true;
  }
}
