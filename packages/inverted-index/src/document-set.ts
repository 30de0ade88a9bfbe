import { countBits } from "./records/container.js";

/**
 * A set of documents as a bitmap: bit `document % 32` of word `document / 32`. It has as many words as its largest member
 * asked for; documents beyond them are not in it.
 */
export class DocumentSet {
  #words: Uint32Array;

  /** `documentLimit`: members are below it; the set grows when one is not. */
  constructor(documentLimit = 0) {
    this.#words = new Uint32Array((documentLimit + 31) >>> 5);
  }

  static of(documents: Iterable<number>): DocumentSet {
    const set = new DocumentSet();
    for (const document of documents) set.add(document);
    return set;
  }

  /** The words themselves: what the vector index takes. */
  get words(): Uint32Array {
    return this.#words;
  }

  has(document: number): boolean {
    return (((this.#words[document >>> 5] ?? 0) >>> (document & 31)) & 1) === 1;
  }

  add(document: number): void {
    const at = document >>> 5;
    if (at >= this.#words.length) this.#grow(at + 1);
    this.#words[at] = (this.#words[at] ?? 0) | (1 << (document & 31));
  }

  delete(document: number): void {
    const at = document >>> 5;
    if (at < this.#words.length) this.#words[at] = (this.#words[at] ?? 0) & ~(1 << (document & 31));
  }

  /** Makes room for all documents below the limit, so that `words` reach them. */
  reserve(documentLimit: number): void {
    const length = (documentLimit + 31) >>> 5;
    if (length > this.#words.length) this.#enlarge(length);
  }

  copy(): DocumentSet {
    const set = new DocumentSet();
    set.#words = this.#words.slice();
    return set;
  }

  /** Keeps the members that `other` has, too. */
  and(other: DocumentSet): this {
    const words = this.#words;
    const others = other.#words;
    const shared = Math.min(words.length, others.length);
    for (let at = 0; at < shared; at++) words[at] = (words[at] ?? 0) & (others[at] ?? 0);
    words.fill(0, shared);
    return this;
  }

  or(other: DocumentSet): this {
    const others = other.#words;
    if (others.length > this.#words.length) this.#grow(others.length);
    const words = this.#words;
    for (let at = 0; at < others.length; at++) words[at] = (words[at] ?? 0) | (others[at] ?? 0);
    return this;
  }

  andNot(other: DocumentSet): this {
    const words = this.#words;
    const others = other.#words;
    const shared = Math.min(words.length, others.length);
    for (let at = 0; at < shared; at++) words[at] = (words[at] ?? 0) & ~(others[at] ?? 0);
    return this;
  }

  get size(): number {
    return countBits(this.#words);
  }

  get isEmpty(): boolean {
    const words = this.#words;
    for (let at = 0; at < words.length; at++) if (words[at] !== 0) return false;
    return true;
  }

  /** Members, ascending. */
  *[Symbol.iterator](): Iterator<number> {
    for (let at = 0; at < this.#words.length; at++) {
      for (let rest = this.#words[at] ?? 0; rest !== 0; rest &= rest - 1) {
        yield at * 32 + (31 - Math.clz32(rest & -rest));
      }
    }
  }

  toArray(): Uint32Array {
    const documents = new Uint32Array(this.size);
    let filled = 0;
    const words = this.#words;
    for (let at = 0; at < words.length; at++) {
      for (let rest = words[at] ?? 0; rest !== 0; rest &= rest - 1) {
        documents[filled++] = at * 32 + (31 - Math.clz32(rest & -rest));
      }
    }
    return documents;
  }

  #grow(length: number): void {
    this.#enlarge(Math.max(length, this.#words.length + (this.#words.length >>> 1)));
  }

  #enlarge(length: number): void {
    const grown = new Uint32Array(length);
    grown.set(this.#words);
    this.#words = grown;
  }
}
