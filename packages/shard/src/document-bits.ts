/** A set of document ids, in a bit each. */
export class DocumentBits {
  #words = new Uint32Array(1_024);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(document: number): void {
    if (this.has(document)) return;
    const word = document >>> 5;
    if (word >= this.#words.length) {
      const words = new Uint32Array(Math.max(word + 1, this.#words.length * 2));
      words.set(this.#words);
      this.#words = words;
    }
    this.#words[word] = (this.#words[word] ?? 0) | (1 << (document & 31));
    this.#count++;
  }

  remove(document: number): void {
    if (!this.has(document)) return;
    const word = document >>> 5;
    this.#words[word] = (this.#words[word] ?? 0) & ~(1 << (document & 31));
    this.#count--;
  }

  has(document: number): boolean {
    return (((this.#words[document >>> 5] ?? 0) >>> (document & 31)) & 1) === 1;
  }

  /** Those from `from` to before `end` that it does not have. */
  missing(from: number, end: number): Uint32Array {
    const missing: number[] = [];
    for (let document = from; document < end; document++) if (!this.has(document)) missing.push(document);
    return Uint32Array.from(missing);
  }
}
